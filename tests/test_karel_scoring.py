"""What the synthesizer is scored on, and what is said of it."""

import numpy as np
import pytest

from tests.test_karel_model import TINY
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.source import plain_source
from unskew.datasets.generate import generate
from unskew.datasets.open import open_target
from unskew.datasets.target import Target
from unskew.domains.karel.examples import INPUTS, PROGRAM, program_rows, world_numbers
from unskew.models.karel import score as karel_scoring
from unskew.models.karel.data.examples import read_examples, read_scored
from unskew.models.karel.network.synthesizer import Synthesizer
from unskew.models.karel.score import check_scored, score
from unskew.models.karel.train.run import shipped_synthesizer
from unskew.models.samples import DRAWS, read_sample

SIZED = "def size(example):\n    return len(example['program'].split()) // 4\n"


def target(n: int, endless: bool = False) -> Target:
    """Numbers from 0 on, in batches of at most seven."""

    def read(wanted):
        count = wanted if endless or wanted is not None else n
        for start in range(0, count, 7):
            yield Batch({"row": np.arange(start, min(start + 7, count))})

    source = plain_source(lambda rng: 0, "numbers") if endless else None
    return Target("numbers", read, source=source)


def test_what_ends_is_read_whole():
    sample = read_sample(target(26), None)
    assert sample.examples.columns["row"].tolist() == list(range(26))
    assert (sample.of, sample.is_cut) == (26, False)
    for n in (26, 99):
        again = read_sample(target(26), n)
        assert (len(again.examples), again.of, again.is_cut) == (26, 26, False)


def test_some_of_what_ends_are_evenly_spaced_from_its_first_row_to_its_last():
    for n in (2, 9, 25):
        sample = read_sample(target(26), n)
        rows = sample.examples.columns["row"]
        assert (len(rows), sample.of, sample.is_cut) == (n, 26, True)
        assert (rows[0], rows[-1]) == (0, 25)
        steps = np.diff(rows)
        assert steps.min() >= 1
        assert steps.max() - steps.min() <= 1
    assert read_sample(target(26), 1).examples.columns["row"].tolist() == [0]


def test_of_a_source_so_many_are_drawn():
    assert len(read_sample(target(0, endless=True), None).examples) == DRAWS
    sample = read_sample(target(0, endless=True), 12)
    assert (len(sample.examples), sample.of, sample.is_cut) == (12, None, False)
    with pytest.raises(UnskewError, match="n is 0"):
        read_sample(target(26), 0)
    with pytest.raises(UnskewError, match="gave no examples"):
        read_sample(target(0), None)


def test_the_actions_are_of_all_lengths_in_part_as_in_whole():
    """The set is in the order of its lengths, one to eight: 5,000 tasks of each from four on."""
    whole = read_scored("karel/actions-test")
    assert (len(whole.examples), whole.of) == (26_550, 26_550)
    some = read_scored("karel/actions-test", 531)
    assert some.of == 26_550
    lengths = (program_rows(some.examples) > 0).sum(axis=1) - 4
    assert np.unique(lengths).tolist() == list(range(1, 9))
    assert np.bincount(lengths)[4:].tolist() == pytest.approx([100] * 5, abs=1)


def test_files_of_several_numbers_of_pairs_and_columns_are_one_set(tmp_path):
    for pairs in (5, 6):
        generate(Recipe("karel/msr", 4, {"pairs": pairs}), tmp_path / str(pairs))
        (part,) = (tmp_path / str(pairs) / "data").glob("*.parquet")
        part.rename(tmp_path / f"{pairs}.parquet")
        for other in sorted((tmp_path / str(pairs)).rglob("*"), reverse=True):
            other.rmdir() if other.is_dir() else other.unlink()
    sample = read_scored(str(tmp_path))
    assert world_numbers(sample.examples, INPUTS).tolist() == [5] * 4 + [6] * 4


@pytest.fixture(scope="module")
def model():
    return Synthesizer(TINY)


def test_scores_say_what_was_shown_and_what_was_held_out(model):
    six = read_examples("karel/msr", 4)
    result = score(model, six, 1)
    assert (result.shown, result.shown_range, result.held_out) == (5, (5, 5), (1, 1))
    result = score(model, six, 1, shown=2)
    assert (result.shown, result.shown_range, result.held_out) == (2, (2, 2), (4, 4))
    plain = result.to_dict()
    numbers = [
        plain[key] for key in ("tasks", "shown", "shown_from", "shown_to", "held_out", "beam")
    ]
    assert numbers == [4, 2, 2, 2, [4, 4], 1]
    assert "of" not in plain
    assert {"shares", "by", "misses"} <= set(plain)


def test_all_pairs_of_the_problems_are_shown_and_none_is_held_out(model):
    result = score(model, read_examples("karel/problems"), 1)
    assert (result.shown, result.shown_range, result.held_out) == (5, (1, 4), (0, 0))
    solved = score(shipped_synthesizer(), read_examples("karel/problems"), 8).shares
    assert solved["generalizes"] == solved["consistent"]
    assert 0 < solved["generalizes"].hits < 41


def test_as_many_pairs_as_there_are_can_be_shown(model):
    six = read_examples("karel/msr", 3)
    assert score(model, six, 1, shown=6).held_out == (0, 0)
    for shown in (0, 7):
        with pytest.raises(UnskewError, match=rf"shown is {shown}; examples have 6 .*show 1 to 6"):
            score(model, six, 1, shown=shown)
    with pytest.raises(UnskewError, match="examples have 1 to 4 pairs: show 1, or leave"):
        score(model, read_examples("karel/problems"), 1, shown=2)


def test_scores_do_not_depend_on_how_many_are_decoded_at_once(monkeypatch):
    examples, told = read_examples("karel/uniform-test", 40), []
    shipped = shipped_synthesizer()
    once = score(shipped, examples, 2, misses=5, by=["size"])
    monkeypatch.setattr(karel_scoring, "TASKS_PER_REPORT", 7)
    again = score(shipped, examples, 2, misses=5, by=["size"], advance=told.append)
    assert once.to_dict() == again.to_dict()
    assert len(once.misses) == 5
    assert told == [7, 7, 7, 7, 7, 5]


def test_scores_are_told_by_variables_columns_and_functions(model, tmp_path, monkeypatch):
    (tmp_path / "sized.py").write_text(SIZED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    examples = read_scored("karel/problems").examples
    by_value = score(model, examples, 1, by=["size", "name", "sized:size"]).by
    names = examples.columns["name"].to_pylist()
    assert [value for value, _ in by_value["name"]] == sorted(names)
    sizes = [len(text.split()) // 4 for text in examples.columns[PROGRAM].to_pylist()]
    assert {value: share.n for value, share in by_value["sized:size"]} == {
        size: sizes.count(size) for size in sorted(set(sizes))
    }
    assert sum(share.n for _, share in by_value["size"]) == 41


def test_values_without_an_order_and_gaps_are_told_too(model):
    import pyarrow as pa

    columns = read_examples("karel/msr", 3).columns
    batch = Batch({**columns, "hand": pa.array(["left", None, "left"])})
    rows = score(model, batch, 1, by=["hand"]).by["hand"]
    assert [(value, share.n) for value, share in rows] == [("left", 2), (None, 1)]


def test_an_unknown_variable_is_refused_before_anything_is_decoded():
    batch, no_model = read_examples("karel/msr", 2), object()
    with pytest.raises(UnskewError, match="unknown variable 'nestign'; did you mean 'nesting'"):
        score(no_model, batch, 1, by=["nestign"])
    with pytest.raises(UnskewError, match="unknown variable"):
        check_scored(batch, None, ["nestign"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("karel/msr-tset", "did you mean 'karel/msr-test'"),
        ("msr-test", "did you mean 'karel/msr-test'"),
        ("karel/zzzzzzzzzzz", "unskew list karel names them"),
        ("nope", "check the path; unskew list names the sources"),
        ("nope.jsonl", "does not exist"),
    ],
)
def test_an_unknown_name_has_a_next_step_and_no_list(name, message):
    with pytest.raises(UnskewError) as error:
        open_target(name)
    assert message in str(error.value)
    assert "calculator/" not in str(error.value)
