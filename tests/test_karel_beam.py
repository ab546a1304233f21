"""Decoding: the syntax mask, beam search, and a tiny model that learns."""

import numpy as np
import pytest
import torch

from tests.naive import karel as naive_karel
from tests.naive import karel_beam as naive_beam
from tests.naive import karel_syntax as naive
from tests.naive.karel_model import plain_copy
from tests.test_karel_model import TINY, tasks, tensors
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.tokens import IDS, PAD, VOCABULARY, stacked, to_ids
from unskew.domains.karel.running.interpreter import run
from unskew.models.karel.data.tasks import Minibatches, Tasks
from unskew.models.karel.decode.beam import Candidates, beam_search
from unskew.models.karel.decode.grammar import Unfinished
from unskew.models.karel.network.packed import Steps
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.step import StepConfig, TrainingStep, begun_with_differences

CPU = torch.device("cpu")


def allowed_after(tokens: list[str], max_length: int) -> set[str]:
    state = Unfinished.empty((1,), max_length, CPU)
    for token in tokens:
        state = state.after(torch.tensor([IDS[token]]))
    return {VOCABULARY[i] for i in torch.nonzero(state.allowed()[0]).flatten().tolist()}


def test_the_mask_allows_what_the_naive_parser_does_along_random_programs():
    """Every prefix of random programs, with room to spare, little and none."""
    rng = generator(0, "syntax")
    for _ in range(25):
        program = list(naive_karel.random_program(rng, int(rng.integers(5, 40))))
        for room in (0, 1, 3, 20):
            limit = len(program) + room
            for end in range(len(program)):
                expected = naive.next_tokens(program[:end], limit)
                assert allowed_after(program[:end], limit) == expected


def test_walks_through_the_mask_are_programs_that_compile():
    """Uniform steps over what is allowed, at many limits: each ends as a program in time."""
    generator = torch.Generator().manual_seed(0)
    for limit in (5, 6, 9, 12, 13, 20, 40, 120, 256):
        state = Unfinished.empty((200,), limit, CPU)
        rows = torch.zeros(200, limit, dtype=torch.uint8)
        for step in range(limit):
            chances = state.allowed().float()
            assert (chances.sum(dim=1) > 0).all()
            tokens = torch.multinomial(chances, 1, generator=generator).squeeze(1)
            rows[:, step] = tokens
            state = state.after(tokens)
        assert state.done().all()
        assert (compile_programs(rows.numpy()).status == 0).all()


def test_a_program_that_cannot_fit_is_refused():
    with pytest.raises(UnskewError, match="max_length is 4"):
        Unfinished.empty((1,), 4, CPU)


def found(beam: int, max_length: int, n: int = 4, **options) -> Candidates:
    worlds = tasks(n).worlds[:, :5]
    return beam_search(Synthesizer(TINY), worlds, beam, max_length, **options)


@pytest.mark.parametrize(("beam", "max_length"), [(1, 40), (3, 12), (64, 5), (64, 13), (64, 30)])
def test_whatever_is_found_is_a_program(beam, max_length):
    """A beam of random weights: compiles, never twice, ranked; none only where none is left."""
    made = found(beam, max_length)
    assert made.programs.shape == (4, beam, max_length)
    assert (made.scores.diff(dim=1) <= 0).all() or max_length == 5
    for rows, scores in zip(made.programs, made.scores, strict=True):
        real = rows[~scores.isneginf()].numpy()
        assert (rows[scores.isneginf()] == PAD).all()
        assert len(real) == (5 if max_length == 5 else beam)
        assert (compile_programs(real).status == 0).all()
        assert len(np.unique(real, axis=0)) == len(real)


def log_probabilities(model: Synthesizer, worlds: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
    """Of each program for one task, by teacher forcing."""
    order = np.argsort(-(rows != PAD).sum(axis=1), kind="stable")
    lengths = (rows[order] != PAD).sum(axis=1).tolist()
    steps = Steps.of(lengths, CPU)
    programs = torch.from_numpy(rows[order])
    same = worlds.expand(len(rows), *worlds.shape)
    logits, targets = model.logits(same, programs, steps, torch.float32)
    scores = logits.log_softmax(dim=1).gather(1, targets.unsqueeze(1)).squeeze(1)
    totals = torch.zeros(len(rows)).index_add(0, steps.rows, scores)
    return totals[torch.from_numpy(np.argsort(order))]


@torch.no_grad()
def test_a_beam_wide_enough_finds_every_program_in_its_order():
    """All 30 programs of at most six tokens, scored by teacher forcing."""
    every = stacked([to_ids(program) for program in naive.every_program(6)])
    assert len(every) == 30
    model = Synthesizer(TINY)
    worlds = tasks(4).worlds[:, :5]
    made = beam_search(model, worlds, 64, 6)
    for task in range(4):
        expected = log_probabilities(model, worlds[task], every)
        order = expected.argsort(descending=True)
        assert torch.equal(made.programs[task, :30], torch.from_numpy(every)[order])
        assert torch.allclose(made.scores[task, :30], expected[order], atol=1e-5)
        assert made.scores[task, 30:].isneginf().all()


@torch.no_grad()
def test_a_beam_of_one_is_greedy():
    model = Synthesizer(TINY)
    worlds = tasks(3).worlds[:, :5]
    made = beam_search(model, worlds, 1, 24).programs[:, 0]
    for task in range(3):
        program: list[str] = []
        while naive.missing_tokens(program) != 0 or not program:
            rows = np.array([[*(IDS[token] for token in program), 1]], dtype=np.uint8)
            steps = Steps.of([rows.shape[1]], CPU)
            shown = worlds[task : task + 1]
            logits, _ = model.logits(shown, torch.from_numpy(rows), steps, torch.float32)
            choices = sorted(naive.next_tokens(program, 24), key=lambda t: -logits[-1, IDS[t]])
            program.append(choices[0])
        assert made[task, : len(program)].tolist() == [IDS[token] for token in program]
        assert (made[task, len(program) :] == PAD).all()


def certain(seed: int) -> Synthesizer:
    """A tiny model whose answers are less alike and end programs, as a trained one's do."""
    model = Synthesizer(SynthesizerConfig(channels=8, blocks=1, pair=16, hidden=16, seed=seed))
    model.get_parameter("answer").data *= 12
    model.get_parameter("from_pair").data *= 6
    model.get_parameter("answer_bias").data[IDS["m)"]] += 4
    return model


def naive_search(model: Synthesizer, worlds: torch.Tensor, beam: int, max_length: int, **rule):
    """What the twin keeps for each task."""
    plain = plain_copy(model)
    before, after = (tensors(worlds[:, :, side].numpy()) for side in (0, 1))
    return [
        naive_beam.beam_search(plain, *pair, IDS, beam, max_length, **rule)
        for pair in zip(before, after, strict=True)
    ]


@pytest.mark.parametrize(("beam", "max_length"), [(2, 20), (3, 9), (7, 14), (16, 6), (29, 11)])
def test_a_beam_that_prunes_keeps_what_the_naive_one_keeps(beam, max_length):
    worlds = tasks(4).worlds[:, :5]
    for seed in (0, 1):
        model = certain(seed)
        made = beam_search(model, worlds, beam, max_length)
        for task, expected in enumerate(naive_search(model, worlds, beam, max_length)):
            rows = [[IDS[token] for token in tokens] for _, tokens in expected]
            programs = [row[row != PAD].tolist() for row in made.programs[task]]
            assert programs == rows
            scores = torch.tensor([score for score, _ in expected])
            assert torch.allclose(made.scores[task], scores, atol=1e-4)


def set_aside(grown, beam):
    """Another rule: complete programs do not take up the places of others."""
    done = [path for path in grown if naive_beam.complete(path[1])]
    return done + [path for path in grown if not naive_beam.complete(path[1])][:beam]


def crowded_out(grown, beam):
    """Another rule: a complete program stays only where unfinished ones leave a place."""
    order = sorted(grown, key=lambda item: naive_beam.complete(item[1]))
    return sorted(order[:beam], key=lambda item: -item[0])


def wider(grown, beam):
    """Another rule: more than the beam stay."""
    return grown[: 4 * beam]


@pytest.mark.parametrize("rule", [set_aside, crowded_out, wider])
def test_beams_that_keep_by_another_rule_find_other_programs(rule):
    """So the comparison with the twin tells them apart."""
    worlds, beam = tasks(4).worlds[:, :5], 7
    right = naive_search(certain(0), worlds, beam, 14)
    wrong = naive_search(certain(0), worlds, beam, 14, keep=rule)
    for one, other in zip(right, wrong, strict=True):
        assert one != sorted(other, key=lambda item: -item[0])[:beam]


def test_what_is_found_does_not_depend_on_how_many_are_decoded_at_once():
    whole = found(8, 20, n=7)
    for at_once in (1, 3):
        parts = found(8, 20, n=7, at_once=at_once)
        assert torch.equal(whole.programs, parts.programs)
        assert torch.allclose(whole.scores, parts.scores, atol=1e-5)


def test_a_beam_out_of_range_is_refused():
    with pytest.raises(UnskewError, match="beam is 65"):
        found(65, 20)


def generalizes(model: Synthesizer, data: Tasks) -> float:
    """The share of tasks whose greedy program is right on all six pairs."""
    made = beam_search(model, data.worlds[:, :5], 1, 8).programs[:, 0].numpy()
    ran = run(made, data.worlds[:, :, 0].reshape(-1, 260).numpy())
    right = (ran.worlds == data.worlds[:, :, 1].reshape(-1, 260).numpy()).all(axis=1)
    return float((right & (ran.status == 0)).reshape(len(data), 6).all(axis=1).mean())


def test_a_tiny_model_learns_sixteen_tasks_by_heart():
    """Two random pairs of six are shown at a time; all six must be right in the end.

    With three seeds of tasks, weights and batches all sixteen were right. Without first weights
    that see differences it takes three times as many steps.
    """
    config, how = begun_with_differences(
        SynthesizerConfig(channels=8, blocks=1, pair=16, token=16, hidden=128),
        StepConfig(batch=16, rate=5e-3, warmup=0.15),
    )
    model, data = Synthesizer(config), tasks(16, 0, "actions", max_length=2)
    assert generalizes(model, data) < 0.3
    step = TrainingStep(model, Minibatches(data, 16, (2, 2)), how)
    for number in range(200):
        step.run(number, number / 200)
    assert generalizes(model, data) > 0.9
