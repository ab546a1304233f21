"""Whole runs of the synthesizer with a tiny model on the CPU: learning, stopping, going on."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.waiting import until
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.run import shard
from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.models.checkpoint import load_checkpoint, save_checkpoint
from unskew.models.karel.data.feed import Feeds, Mixture
from unskew.models.karel.data.rounds import Rounds
from unskew.models.karel.data.tasks import Minibatches, Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.network.synthesizer import SynthesizerConfig
from unskew.models.karel.train.run import MODEL, RunConfig, is_finished, load_synthesizer, train
from unskew.models.karel.train.step import StepConfig
from unskew.models.runs import CHECKPOINT, CONFIG, METRICS

CPU = torch.device("cpu")
TINY = SynthesizerConfig(channels=8, blocks=1, pair=32, token=16, hidden=32, layers=2)
STEP = StepConfig(batch=32, rate=5e-3, warmup=0.1)
SOURCE = Recipe("karel/actions", 640, {"max_length": 2})


@pytest.fixture(scope="module")
def tasks():
    return Tasks.of(shard(SOURCE, 0)[0])


def batches_of(tasks, config=STEP):
    return lambda number, state: Minibatches(tasks, config.batch, config.shown, config.seed)


def run_for(steps, tasks, folder, **more):
    config = RunConfig(TINY, STEP, steps=steps)
    return train(config, batches_of(tasks), {"tasks": tasks.digest()}, folder, **more)


def logged(folder):
    """The steps in the metrics of a run."""
    return [json.loads(line)["step"] for line in (folder / METRICS).read_text().splitlines()]


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(left, right):
    return all(torch.equal(left[name], right[name]) for name in left)


def test_a_run_tells_how_it_goes(tasks, tmp_path):
    """The loss falls, held-out tasks are solved or not, and what is decoded are programs."""
    seen = []
    fresh = Tasks(tasks.programs[:20], tasks.worlds[:20])
    model = run_for(12, tasks, tmp_path, report=seen.append, held_out=fresh, every=0.0)
    assert [now.step for now in seen] == [*range(1, 12), 12]
    assert seen[-1].loss < seen[0].loss
    assert seen[-1].done == 1
    assert all(0 <= now.accuracy <= 1 for now in seen)
    written = EventAccumulator(str(tmp_path)).Reload()
    losses = [(event.step, event.value) for event in written.Scalars("loss")]
    assert losses == [(now.step, pytest.approx(now.loss)) for now in seen]
    solved = solve(model, fresh, beam=3)
    assert solved.judged.valid.all()
    assert (np.diff(solved.scores, axis=1) <= 0).all()


def test_a_run_that_is_stopped_goes_on_exactly(tasks, tmp_path):
    whole = weights(run_for(30, tasks, tmp_path / "whole"))

    class Stop(Exception):  # noqa: N818
        pass

    def stop(progress):
        if progress.step == 12:  # which is not saved
            raise Stop

    with pytest.raises(Stop):
        run_for(30, tasks, tmp_path / "stopped", every=0.0, save_seconds=0.0, report=stop)
    _, facts = load_checkpoint(tmp_path / "stopped" / CHECKPOINT)
    assert facts["step"] == 11
    assert same(whole, weights(run_for(30, tasks, tmp_path / "stopped")))
    assert logged(tmp_path / "stopped") == [*range(1, 12), 30]


def interrupted(open_batches, at, times=1):
    """Batches with Ctrl-C in the middle of step ``at``, when the step asks for its batch."""

    def opened(number, state):
        batches = open_batches(number, state)
        choose = batches.choice

        def choice(number):
            for _ in range(times if number == at - 1 else 0):
                os.kill(os.getpid(), signal.SIGINT)
            return choose(number)

        batches.choice = choice
        return batches

    return opened


def interrupted_run(steps, tasks, folder, at, times=1):
    config, data = RunConfig(TINY, STEP, steps=steps), {"tasks": tasks.digest()}
    with pytest.raises(KeyboardInterrupt):
        train(config, interrupted(batches_of(tasks), at, times), data, folder, every=0.0)


@pytest.mark.parametrize("at", [1, 7])
def test_ctrl_c_ends_the_step_and_saves_it(tasks, tmp_path, at):
    whole = weights(run_for(12, tasks, tmp_path / "whole"))
    interrupted_run(12, tasks, tmp_path / "stopped", at)
    assert logged(tmp_path / "stopped")[-1] == at
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert load_checkpoint(tmp_path / "stopped" / CHECKPOINT)[1]["step"] == at
    assert not (tmp_path / "stopped" / MODEL).exists()
    assert same(whole, weights(run_for(12, tasks, tmp_path / "stopped")))


def test_ctrl_c_in_the_last_step_finishes_the_run_and_is_not_forgotten(tasks, tmp_path):
    interrupted_run(3, tasks, tmp_path, at=3)
    assert (tmp_path / MODEL).is_file()
    assert logged(tmp_path) == [1, 2, 3]


def test_a_second_ctrl_c_stops_at_once(tasks, tmp_path):
    interrupted_run(5, tasks, tmp_path, at=3, times=2)
    assert logged(tmp_path) == [1, 2]
    assert not (tmp_path / CHECKPOINT).exists()


def test_a_second_ctrl_c_while_saving_leaves_the_checkpoint_before(tasks, tmp_path, monkeypatch):
    interrupted_run(5, tasks, tmp_path, at=2)
    before = (tmp_path / CHECKPOINT).read_bytes()

    def save_file(tensors, beside, metadata):
        beside.write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("unskew.models.checkpoint.save_file", save_file)
    interrupted_run(5, tasks, tmp_path, at=4)
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_a_run_killed_before_its_first_checkpoint_begins_anew(tasks, tmp_path):
    def stop(now):
        if now.step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_for(5, tasks, tmp_path, report=stop, every=0.0)
    with (tmp_path / METRICS).open("a") as file:
        file.write('{"step": 4, "lo')
    run_for(5, tasks, tmp_path, every=0.0)
    assert logged(tmp_path) == [1, 2, 3, 4, 5]


def test_a_finished_run_is_loaded_and_its_data_are_not_opened(tasks, tmp_path):
    config, data = RunConfig(TINY, STEP, steps=3), {"tasks": tasks.digest()}
    assert not is_finished(config, data, tmp_path)
    made = weights(run_for(3, tasks, tmp_path))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert is_finished(config, data, tmp_path)

    def opened(number, state):
        raise AssertionError("opened")

    assert same(made, weights(train(config, opened, data, tmp_path)))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(UnskewError, match="other settings or data"):
        is_finished(config, {"tasks": "others"}, tmp_path)


def test_a_run_that_wants_only_its_model_is_finished(tasks, tmp_path):
    made = weights(run_for(3, tasks, tmp_path))
    (tmp_path / MODEL).unlink()
    assert same(made, weights(run_for(3, tasks, tmp_path)))
    assert same(made, weights(load_synthesizer(tmp_path, CPU)))


def test_a_run_of_before_there_were_some_settings_goes_on(tasks, tmp_path):
    run_for(3, tasks, tmp_path)
    kept = (tmp_path / CONFIG).read_text()
    assert "fan_in" not in kept
    assert "differences" not in kept
    for model, step in (
        (TINY, replace(STEP, fan_in=16)),
        (replace(TINY, differences=True), STEP),
    ):
        with pytest.raises(UnskewError, match="other settings or data"):
            is_finished(RunConfig(model, step, steps=3), {"tasks": tasks.digest()}, tmp_path)


def test_a_model_is_loaded_with_the_settings_it_was_made_with(tasks, tmp_path):
    seeing = replace(TINY, differences=True)
    config = RunConfig(seeing, STEP, steps=1)
    train(config, lambda *_: Minibatches(tasks, STEP.batch, STEP.shown, STEP.seed), {}, tmp_path)
    assert load_synthesizer(tmp_path, CPU).config == seeing


def test_other_settings_or_data_are_refused(tasks, tmp_path):
    run_for(3, tasks, tmp_path)
    with pytest.raises(UnskewError, match="other settings or data"):
        run_for(4, tasks, tmp_path)


@pytest.mark.parametrize("limit", [{}, {"minutes": 1, "steps": 1}])
def test_a_run_ends_by_time_or_by_steps(limit):
    with pytest.raises(UnskewError, match="give minutes or steps"):
        RunConfig(TINY, STEP, **limit)


# Endless feeds.

ENDLESS = Mixture((Recipe("karel/actions", 1, {"max_length": 3}, seed=4),))


def rounds(number=0, state=None, shown=(5, 5), **more):
    return Rounds(
        ENDLESS, 32, shown, 0, CPU, batches=2, number=number, state=state, **{"reuse": 2, **more}
    )


def test_each_task_of_a_feed_is_used_as_often_as_said():
    """Two batches a chunk, a buffer of two chunks: four batches a round, a new chunk each."""
    batches = rounds()
    try:
        used = {}
        for number in range(12):
            chosen = batches.choice(number).tasks
            for row in batches.tasks.worlds[chosen].flatten(1).numpy():
                used[row.tobytes()] = used.get(row.tobytes(), 0) + 1
    finally:
        batches.close()
    assert len(used) == 64 * 4
    assert sorted(used.values()) == [1] * 128 + [2] * 128  # the first and the last chunk once


def test_a_closed_feed_leaves_no_thread_and_says_so():
    before = set(threading.enumerate())
    for _ in range(2):
        batches = rounds()
        batches.close()
        batches.close()
        assert set(threading.enumerate()) <= before
    with pytest.raises(UnskewError, match="closed"):
        batches.choice(100)


def test_batches_that_cannot_be_laid_out_leave_nothing_behind():
    before = set(threading.enumerate())
    with pytest.raises(UnskewError, match="shown is 9; tasks have 6 pairs"):
        rounds(shown=(9, 9))
    assert set(threading.enumerate()) <= before


def test_a_feed_goes_on_exactly():
    batches = rounds()
    try:
        expected, states = [], []
        for number in range(10):
            chosen = batches.choice(number)
            states.append(batches.state())
            expected.append((batches.tasks.worlds[chosen.tasks].clone(), chosen.pairs.clone()))
    finally:
        batches.close()
    for start in (0, 5, 8):
        again = rounds(start, states[start])
        try:
            for number in range(start, 10):
                chosen = again.choice(number)
                assert torch.equal(again.tasks.worlds[chosen.tasks], expected[number][0])
                assert torch.equal(chosen.pairs, expected[number][1])
        finally:
            again.close()


def test_longer_programs_than_before_get_a_new_layout():
    batches = rounds(reuse=1)
    state = {**batches.state(), "limits": [5] * 32}
    batches.close()
    batches = rounds(reuse=1, state=state)
    try:
        chosen = batches.choice(2).tasks
        assert batches.layout == 1
        assert (batches.tasks.lengths()[chosen].numpy() <= batches.state()["limits"]).all()
        assert batches.tasks.lengths().max() > 5
    finally:
        batches.close()


@pytest.mark.parametrize("error", [MemoryError("no memory"), ValueError("what")])
def test_a_stream_that_breaks_in_any_way_ends_the_run(monkeypatch, error):
    def broken(*_):
        raise error

    monkeypatch.setattr(Feeds, "take", broken)
    with pytest.raises(UnskewError, match=f"the stream ended .{type(error).__name__}"):
        rounds()


def test_training_on_a_feed_is_stopped_and_goes_on(tmp_path):
    config = RunConfig(TINY, STEP, steps=8)

    def feed(number, state):
        return rounds(number, state)

    whole = weights(train(config, feed, {"recipe": ENDLESS.recipes[0].hash}, tmp_path / "whole"))
    script = (
        "import sys, pathlib; sys.path.insert(0, '.')\n"
        "from tests.test_karel_run import *\n"
        "def hold(progress):\n"  # the fourth step is saved, the fifth is not
        "    while progress.step == 5: signal.pause()\n"
        f"train(RunConfig(TINY, STEP, steps=8), rounds, {{'recipe': {ENDLESS.recipes[0].hash!r}}}, "
        f"pathlib.Path({str(tmp_path / 'killed')!r}), every=0, save_seconds=0, report=hold)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    checkpoint = tmp_path / "killed" / CHECKPOINT
    until(lambda: checkpoint.exists() and load_checkpoint(checkpoint)[1]["step"] == 4, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert load_checkpoint(checkpoint)[1]["step"] == 4
    assert same(
        whole,
        weights(train(config, feed, {"recipe": ENDLESS.recipes[0].hash}, tmp_path / "killed")),
    )


@pytest.mark.parametrize("at", [3, 4])
def test_ctrl_c_on_a_feed_goes_on_exactly_also_where_a_round_ends(tmp_path, at):
    """Four batches a round: after the fourth the next one needs a chunk that is not there yet."""
    config, data = RunConfig(TINY, STEP, steps=6), {"recipe": ENDLESS.recipes[0].hash}
    whole = weights(train(config, rounds, data, tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt):
        train(config, interrupted(rounds, at), data, tmp_path / "stopped")
    assert load_checkpoint(tmp_path / "stopped" / CHECKPOINT)[1]["step"] == at
    assert same(whole, weights(train(config, rounds, data, tmp_path / "stopped")))


# Several processes.


def test_two_processes_learn_what_one_does(tasks, tmp_path):
    """The same losses, up to the order of additions, as one with the same batch."""
    np.savez(tmp_path / "tasks.npz", p=tasks.programs.numpy(), w=tasks.worlds.numpy())
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, pathlib; sys.path.insert(0, '.')\n"
        "from tests.test_karel_run import *\n"
        "from unskew.models.ranks import join_ranks, leave_ranks\n"
        f"data = np.load({str(tmp_path / 'tasks.npz')!r})\n"
        "tasks = Tasks.of_arrays(data['p'], data['w'])\n"
        "ranks = join_ranks()\n"
        "def batches(number, state):\n"
        "    return Minibatches(tasks, STEP.batch, STEP.shown, STEP.seed, ranks=ranks)\n"
        "config = RunConfig(TINY, STEP, steps=20)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "train(config, batches, {}, folder, ranks=ranks, every=0.0)\n"
        "leave_ranks(ranks)\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    two = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    two += ["--standalone"]  # it takes a port that is free
    done = subprocess.run(
        [*two, str(script), str(tmp_path / "two")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    train(
        RunConfig(TINY, STEP, steps=20),
        lambda *_: Minibatches(tasks, STEP.batch, STEP.shown, STEP.seed),
        {},
        tmp_path / "one",
        every=0.0,
    )
    one, both = (
        [json.loads(line)["loss"] for line in (tmp_path / name / METRICS).read_text().splitlines()]
        for name in ("one", "two")
    )
    assert len(one) == 20
    assert one == pytest.approx(both, rel=1e-4)
    assert one[-1] < 0.8 * one[0]


# Files.


def test_what_is_no_model_is_refused(tasks, tmp_path):
    run_for(2, tasks, tmp_path / "run")
    model = tmp_path / "run" / MODEL
    assert load_synthesizer(model, CPU).config == TINY
    data = model.read_bytes()
    for name, content in (
        ("truncated", data[: len(data) // 2]),
        ("text", b"hello"),
        ("empty", b""),
        ("pickle", b"\x80\x04K\x01."),
    ):
        bad = tmp_path / f"{name}.safetensors"
        bad.write_bytes(content)
        with pytest.raises(UnskewError, match="not a whole checkpoint"):
            load_synthesizer(bad, CPU)
    with pytest.raises(UnskewError, match="is not a run"):
        load_synthesizer(tmp_path, CPU)
    model.unlink()
    with pytest.raises(UnskewError, match="not finished"):
        load_synthesizer(tmp_path / "run", CPU)


def test_a_model_of_other_sizes_than_it_says_is_refused(tasks, tmp_path):
    """In a line, and before memory is taken for what it says: no machine has so much."""
    run_for(2, tasks, tmp_path / "run")
    path = tmp_path / "run" / MODEL
    tensors, facts = load_checkpoint(path)
    sizes = facts["model"]
    for model, message in (
        (
            {**sizes, "hidden": 10**7},
            r"model.safetensors holds no synthesizer \(hidden is 10000000",
        ),
        ({**sizes, "hidden": 60_000}, "holds no synthesizer .* parameters; allowed"),
        (
            {**sizes, "hidden": 31},
            r"not of this model: answer is \(32, 5\d\), its settings say \(31",
        ),
        ({**sizes, "width": 3}, "holds no synthesizer .*width"),
        ([1], "holds no synthesizer"),
    ):
        save_checkpoint(path, tensors, {**facts, "model": model})
        with pytest.raises(UnskewError, match=message):
            load_synthesizer(tmp_path / "run", CPU)
    save_checkpoint(path, {**tensors, "answer": torch.zeros(1)}, facts)
    with pytest.raises(UnskewError, match=r"answer is \(1,\)"):
        load_synthesizer(tmp_path / "run", CPU)
    with pytest.raises(UnskewError, match=r"holds no synthesizer \(no sizes in it"):
        load_synthesizer(tmp_path / "run" / CHECKPOINT, CPU)


def test_a_checkpoint_that_is_not_the_runs_is_refused(tasks, tmp_path):
    run_for(2, tasks, tmp_path)
    (tmp_path / MODEL).unlink()
    tensors, facts = load_checkpoint(tmp_path / CHECKPOINT)
    fewer = {name: value for name, value in tensors.items() if name != "model.answer"}
    for scores, message, refusal in (
        (tensors, {"step": 1}, r"does not say where it stands \(KeyError\('feeds'\)\); restore"),
        (tensors, {**facts, "step": "x"}, "does not say where it stands"),
        (fewer, facts, "model.answer is missing, its settings say"),
        ({**tensors, "model.pair": torch.zeros(1)}, facts, r"model.pair is \(1,\)"),
    ):
        save_checkpoint(tmp_path / CHECKPOINT, scores, message)
        with pytest.raises(UnskewError, match=refusal):
            run_for(2, tasks, tmp_path)


def test_a_machine_that_fails_is_not_blamed_on_the_checkpoint(tasks, tmp_path):
    run_for(2, tasks, tmp_path)
    (tmp_path / MODEL).unlink()

    def full(number, state):
        raise RuntimeError("CUDA out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        train(RunConfig(TINY, STEP, steps=2), full, {"tasks": tasks.digest()}, tmp_path)


def test_worlds_and_programs_are_those_of_the_batch(tasks):
    batch = shard(SOURCE, 0)[0]
    assert np.array_equal(tasks.worlds[:, :, 0].numpy(), world_rows(batch, INPUTS))
    assert np.array_equal(tasks.worlds[:, :, 1].numpy(), world_rows(batch, OUTPUTS))
    width = tasks.programs.shape[1]
    assert np.array_equal(tasks.programs.numpy(), program_rows(batch)[:, :width])
