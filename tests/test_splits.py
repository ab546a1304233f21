"""Splits that share no key, what is left out, and the command that looks a dataset over."""

import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.datasets import agree_with_part
from unskew import Dataset, Recipe, UnskewError, generate
from unskew.cli import command_line
from unskew.core.batch import Batch
from unskew.core.rowhash import content_hashes
from unskew.core.source import Source
from unskew.core.variables.combine import joint
from unskew.datasets.engines import processes
from unskew.datasets.open import open_input, open_recipe
from unskew.datasets.parts.shard import restricted
from unskew.datasets.parts.splits import OTHER_SPLIT, REPEATED, key_hashes, keys_in
from unskew.datasets.verify import verify
from unskew.io.dataset import read_parquet
from unskew.io.location import sha256
from unskew.io.lookup import find_source, recipe_variables

SPLITS = {"train": 700, "validation": 100, "test": 200}
SPLIT = Recipe("karel/msr", 1_000, splits=SPLITS, shard_size=300)
CALCULATOR = Recipe("calculator/dcfg", 3_000, {"p": 0.3}, shard_size=1_000)


def texts(folder: Path, split: str = "train", column: str = "program") -> list[str]:
    files = sorted((folder / "data").glob(f"{split}-*.parquet"))
    return [text for file in files for text in pq.read_table(file)[column].to_pylist()]


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return generate(SPLIT, tmp_path_factory.mktemp("split") / "made")


def test_splits_have_their_sizes_and_share_no_program(split):
    texts_by_split = {name: texts(split.folder, name) for name in SPLITS}
    assert {name: len(programs) for name, programs in texts_by_split.items()} == SPLITS
    assert not set(texts_by_split["train"]) & set(texts_by_split["test"])
    assert not set(texts_by_split["train"]) & set(texts_by_split["validation"])
    assert not set(texts_by_split["test"]) & set(texts_by_split["validation"])
    assert len(set(texts_by_split["train"])) < 700  # so that sharing none says something
    assert split.tally.dropped[OTHER_SPLIT] > 0
    names = sorted(path.name for path in (split.folder / "data").iterdir())
    assert names == [
        "test-00000-of-00001.parquet",
        *(f"train-0000{i}-of-00003.parquet" for i in range(3)),
        "validation-00000-of-00001.parquet",
    ]


def test_splits_are_the_same_by_several_workers(split, tmp_path):
    other = generate(SPLIT, tmp_path / "made", engine=processes(2))
    assert [sha256(part) for part in other.parts] == [sha256(part) for part in split.parts]


def test_seeds_do_not_move_a_program_to_another_split(split, tmp_path):
    """What is in the test split of one seed is in the training split of no other."""
    other = generate(Recipe(**{**vars(SPLIT), "seed": 9}), tmp_path / "other")
    assert not set(texts(split.folder, "test")) & set(texts(other.folder, "train"))
    assert not set(texts(split.folder, "train")) & set(texts(other.folder, "test"))


def test_programs_of_another_dataset_are_left_out(split, tmp_path):
    first = generate(Recipe("karel/msr", 500, seed=1), tmp_path / "first")
    without = Recipe("karel/msr", 500, seed=2, exclude=(str(first.folder),))
    made = generate(without, tmp_path / "second")
    plain = generate(Recipe("karel/msr", 500, seed=2), tmp_path / "plain")
    assert set(texts(plain.folder)) & set(texts(first.folder))
    assert not set(texts(made.folder)) & set(texts(first.folder))
    assert made.tally.dropped[f"is in {first.folder}"] > 0


class Counted:
    """A source of the numbers 0 to 9, which counts what is drawn of it."""

    def __init__(self):
        self.drawn = 0

    def __call__(self, rng, n):
        self.drawn += n
        return Batch({"expression": pa.array(map(str, rng.integers(10, size=n)))}), Counter()


@pytest.mark.parametrize("excluded", [1, 5, 9])
def test_no_more_is_drawn_than_is_needed_and_the_share_left_out_is_right(excluded, tmp_path):
    """Of ten equal digits some are excluded, of 20 batches: five sigma are 3 points at most."""
    (tmp_path / "few.jsonl").write_text(
        "".join(json.dumps({"expression": str(i)}) + "\n" for i in range(excluded))
    )
    recipe = Recipe("calculator/dcfg", 1, exclude=(str(tmp_path / "few.jsonl"),))
    draw = Counted()
    source = restricted(replace(open_recipe(recipe), source=Source("calculator/dcfg", draw)))
    rng, dropped = np.random.default_rng(0), Counter()
    for _ in range(20):
        batch, why = source.draw(rng, 1_000)
        assert len(batch) == 1_000
        dropped += why
    left_out = sum(dropped.values())
    assert left_out / (left_out + 20_000) == pytest.approx(excluded / 10, abs=0.03)
    assert draw.drawn < 1.15 * 20_000 / (1 - excluded / 10)


def test_lengths_that_take_turns_are_left_out_as_often_as_they_come():
    """Rows of `karel/actions` have their length by their place; all of 1 to 3 are excluded."""
    plain = Recipe("karel/actions", 1, {"max_length": 8})
    source = find_source(plain.source, plain.parameters)
    restricted_ = restricted(open_recipe(replace(plain, exclude=("karel/action-programs",))))
    keys_ = keys_in(open_input("karel/action-programs"), "program")
    drawn, _ = source.draw(np.random.default_rng(1), 2_000)
    share = np.isin(key_hashes(drawn, "program"), keys_).mean()
    assert share > 3 / 8
    for n in (1, 100, 1_000):
        batch, dropped = restricted_.draw(np.random.default_rng(2), n)
        assert len(batch) == n
        left_out = dropped["is in karel/action-programs"]
        if n > 1:  # five sigma of 1,000, and of 100
            assert left_out / (left_out + n) == pytest.approx(share, abs=2.5 / np.sqrt(n))


def test_a_named_recipe_may_be_excluded():
    keys = keys_in(open_input("karel/while-in-if"), "program")
    assert 2_000 < len(keys) <= 2_500
    with pytest.raises(UnskewError, match="never ends"):
        open_input("karel/msr")


def test_distinct_keeps_the_first_of_each(tmp_path):
    recipe = Recipe(**{**vars(CALCULATOR), "distinct": True})
    plain = generate(CALCULATOR, tmp_path / "plain")
    made = generate(recipe, tmp_path / "made")
    expected = list(dict.fromkeys(texts(plain.folder, column="expression")))
    assert texts(made.folder, column="expression") == expected
    assert len(made) == len(expected) == made.tally.kept < 3_000
    assert made.tally.dropped[REPEATED] == 3_000 - len(expected)
    files = [sha256(part) for part in made.parts]
    (made.folder / "manifest.json").unlink()
    made.parts[1].unlink()
    again = generate(recipe, tmp_path / "made")
    assert [sha256(part) for part in again.parts] == files
    assert again.tally == made.tally


@pytest.mark.parametrize("by", [("length",), ("length", "max_depth")])
def test_the_histogram_of_distinct_examples_is_theirs(by, tmp_path):
    """What repeats is off the histogram of what homogenizing kept, as it is off the number."""
    recipe = Recipe("calculator/dcfg", 600, homogenize=by, shard_size=200, distinct=True)
    made = generate(recipe, tmp_path / "made")
    variable = joint(recipe_variables(recipe))
    rows = [value for batch in made.batches() for value in variable.measure(batch).tolist()]
    assert made.tally.dropped[REPEATED] > 50
    assert made.tally.kept_values == {variable.name: Counter(rows)}
    assert made.tally.kept == len(rows)
    assert sum(made.tally.drawn_values[variable.name].values()) == made.tally.drawn
    assert verify(made.folder).faults == []


def test_an_impossible_exclusion_is_given_up(tmp_path):
    every = generate(Recipe("calculator/bal", 400, {"max_depth": 0}), tmp_path / "digits")
    recipe = Recipe("calculator/bal", 10, {"max_depth": 0}, exclude=(str(every.folder),))
    with pytest.raises(UnskewError, match="nothing is left for split train"):
        generate(recipe, tmp_path / "none")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"splits": {"train": 5}}, "n is 10, but its splits have 5"),
        ({"splits": {"tra in": 10}}, "name them with letters"),
        ({"splits": {"../x": 10}}, "name them with letters"),
        ({"splits": {"train": 10.0}}, "give a whole number"),
        ({"splits": {"train": 0, "test": 10}}, "split train is 0"),
        ({"splits": [1]}, "give names with values"),
        ({"exclude": "x"}, "give a list of names"),
        ({"distinct": 1}, "give true or false"),
        ({"splits": {"train": 10}, "given": "karel/problems"}, "leave splits out"),
    ],
)
def test_recipes_that_cannot_be_are_refused(fields, message):
    with pytest.raises(UnskewError, match=message):
        Recipe("karel/msr", 10, **fields)


def test_a_recipe_with_splits_is_read_back():
    recipe = Recipe("karel/msr", 30, splits={"a": 10, "b": 20}, exclude=("x",), distinct=True)
    assert Recipe.from_dict(json.loads(recipe.to_json())) == recipe
    assert "splits" not in Recipe("karel/msr", 30).to_dict()


# verify.


def test_a_good_dataset_has_no_fault(split):
    checked = verify(split.folder)
    assert checked.faults == []
    assert checked.rows == 1_000
    assert checked.rechecked == 200
    assert checked.repeated_keys > 0
    assert checked.repeated_rows == 0


def rewrite(dataset: Dataset, change, *, honest: bool) -> str:
    """Change the table of the first part; an honest one has its checksum in the manifest."""
    path = dataset.parts[0]
    pq.write_table(change(pq.read_table(path)), path)
    if honest:
        agree_with_part(dataset.folder, 0)
    return path.name


def altered(name: str) -> tuple[str, str]:
    """What is said of every part that was rewritten, whatever else is wrong with it."""
    return (
        f"manifest.json does not agree with the note of data/{name}",
        f"{name} is not what its recipe makes: it was altered, or made by another version of "
        "its source",
    )


def wrong_outputs(table: pa.Table) -> pa.Table:
    rows = table["outputs"].to_pylist()
    rows[3] = rows[4]
    return table.set_column(2, "outputs", pa.array(rows, table["outputs"].type))


def no_program(table: pa.Table) -> pa.Table:
    rows = table["program"].to_pylist()
    rows[5] = "DEF run m( jump m)"
    return table.set_column(0, "program", pa.array(rows))


def another_column(table: pa.Table) -> pa.Table:
    return table.append_column("extra", pa.array(range(len(table))))


def first_row_again(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 1), table.slice(0, 1), table.slice(2)])


@pytest.mark.parametrize(
    ("change", "honest", "message"),
    [
        (lambda table: table.slice(1), False, "does not match its checksum"),
        (wrong_outputs, True, "1 row is wrong; it is row 4"),
        (no_program, True, "row 6: 'jump' is no token"),
        (another_column, True, "columns"),
    ],
)
def test_a_planted_fault_is_found(change, honest, message, tmp_path):
    dataset = generate(Recipe("karel/msr", 40, shard_size=20), tmp_path / "made")
    name = rewrite(dataset, change, honest=honest)
    faults = verify(dataset.folder).faults
    assert any(message in fault for fault in faults), faults
    assert any(name in fault for fault in faults) or message == "columns"


def test_files_that_are_gone_or_too_many_are_found(tmp_path):
    dataset = generate(Recipe("karel/msr", 40, shard_size=20), tmp_path / "made")
    dataset.parts[1].rename(dataset.parts[1].with_name("train-00007-of-00009.parquet"))
    faults = verify(dataset.folder).faults
    assert "data/train-00001-of-00002.parquet is missing" in faults
    assert "data/train-00007-of-00009.parquet is not in manifest.json" in faults


def test_leaks_are_found(split, tmp_path):
    """Between splits, from a split that is not its own, and against another dataset."""
    checked = verify(split.folder, [str(split.folder)])
    assert any(f"keys are in train and also in {split.folder}" in fault for fault in checked.faults)
    leaky = generate(
        Recipe("karel/msr", 60, splits={"train": 40, "test": 20}, shard_size=60), tmp_path / "leaky"
    )
    stolen = pq.read_table(leaky.parts[0]).slice(0, 5)
    path = leaky.parts[1]
    pq.write_table(pa.concat_tables([pq.read_table(path), stolen]), path)
    agree_with_part(leaky.folder, 1)
    faults = " ".join(verify(leaky.folder).faults)
    assert "keys are in both test and train" in faults
    assert "5 keys are in train, but of another split" in faults


def test_repeats_in_a_distinct_dataset_are_found(tmp_path):
    recipe = Recipe("karel/msr", 40, shard_size=20, distinct=True)
    dataset = generate(recipe, tmp_path / "made")
    assert verify(dataset.folder).faults == []
    name = rewrite(dataset, first_row_again, honest=True)
    checked = verify(dataset.folder)
    assert checked.repeated_rows == 1
    other_note, other_rows = altered(name)
    repeat = "1 key is repeated in a dataset of distinct ones"
    assert checked.faults == [other_note, other_rows, repeat]


LENIENT = """
from dataclasses import replace
import numpy as np
from unskew.domains.karel import DOMAIN as KAREL
DOMAIN = replace(KAREL, name="lenient", check=lambda batch: np.ones(len(batch), bool))
"""


def test_the_slow_way_finds_what_the_fast_way_let_through(tmp_path, own_module):
    """A kernel gone wrong: check says yes to everything, and still the fault is found."""
    own_module("lenient", LENIENT)
    dataset = generate(Recipe("lenient:msr", 20), tmp_path / "made")
    name = rewrite(dataset, wrong_outputs, honest=True)
    faults = verify(dataset.folder, trust=True).faults
    other_note, other_rows = altered(name)
    slow = f"{name}: row 4 comes out otherwise when worked out again"
    assert faults[:-1] == [other_note, slow]
    assert faults[-1].startswith(other_rows.partition(", or")[0])


def test_keys_are_those_of_the_domain(split):
    batch = next(read_parquet(split.parts[0]))
    same = key_hashes(batch, "program")
    programs = batch.columns["program"].to_pylist()
    assert len(set(same.tolist())) == len(set(programs))
    assert len(set(key_hashes(batch, "").tolist())) == len(batch)


# One's own functions: a key is the whole row, as it is stored.

OWN = """
def number(rng):
    n = int(rng.integers(40))
    return float(n) if rng.random() < 0.5 else n

def row(rng):
    row = {"n": number(rng), "tags": ("a", {"x": int(rng.integers(2))})[: int(rng.integers(2))]}
    if rng.random() < 0.5:
        row["note"] = None if rng.random() < 0.5 else "é"
    return row

def pair(rng):
    return (int(rng.integers(3)), int(rng.integers(3)))

def itself(pair):
    return pair
"""


@pytest.fixture
def own(tmp_path, own_module):
    """A module of two samplers whose values are stored as other values than they return."""
    own_module("own_keys", OWN)
    return tmp_path


def stored(folder: Path, split: str = "train") -> list[str]:
    """The rows of a split, in a form in which equal ones are equal."""
    files = sorted((folder / "data").glob(f"{split}-*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return [
        str(sorted((k, float(v) if k in ("n", "example") else v) for k, v in row.items() if v))
        for row in rows
    ]


@pytest.mark.parametrize("name", ["own_keys:number", "own_keys:row"])
def test_splits_of_own_examples_share_none(own, name):
    made = generate(Recipe(name, 400, splits={"train": 300, "test": 100}, shard_size=60), "made")
    assert verify("made").faults == []
    train, test = stored(made.folder), stored(made.folder, "test")
    assert train
    assert test
    assert not set(train) & set(test)


@pytest.mark.parametrize("name", ["own_keys:number", "own_keys:row"])
def test_own_examples_of_another_dataset_are_left_out(own, name):
    first = generate(Recipe(name, 12, seed=1), "first")
    made = generate(Recipe(name, 200, seed=2, exclude=("first",)), "made")
    assert not set(stored(first.folder)) & set(stored(made.folder))
    assert made.tally.dropped["is in first"] > 0
    assert verify("made").faults == []


def test_valid_examples_are_not_called_invalid(own):
    """Another split, another dataset, a repeat: the card and the command line tell them apart."""
    generate(Recipe("calculator/dcfg", 50, seed=1), "first")
    flags = "--split train=60 --split test=40 --exclude first --distinct -o made --workers 1"
    run = CliRunner().invoke(command_line(), ["generate", "calculator/dcfg", *flags.split()])
    assert run.exit_code == 0, run.output
    output = run.output
    card = Path("made/README.md").read_text()
    for reason in (OTHER_SPLIT, REPEATED, "is in first"):
        count = Dataset.open("made").tally.dropped[reason]
        assert f"valid, but left out: {count:,} ({reason})" in output
        assert f"- {count:,}: {reason}" in card.partition("Valid, but left out:")[2]
    assert output.count("dropped by the source") == output.count("longer than max_length") == 1
    assert card.index("longer than max_length") < card.index("Valid, but left out:")


def test_a_named_recipe_takes_its_size_from_the_splits(own):
    flags = "--split train=30 --split test=10 -o made --workers 1"
    run = CliRunner().invoke(command_line(), ["generate", "karel/msr-train", *flags.split()])
    assert run.exit_code == 0, run.output
    assert len(Dataset.open("made")) == 40


def test_own_distinct_examples_are_distinct_as_stored(own):
    made = generate(Recipe("own_keys:number", 300, shard_size=100, distinct=True), "made")
    assert len(set(stored(made.folder))) == len(made) == 40
    assert verify("made").faults == []


def test_a_variable_that_cannot_read_what_is_stored_is_no_failure(own):
    """A pair is stored as a list, which is no value: the histogram is of what was kept at first."""
    recipe = Recipe("own_keys:pair", 60, homogenize=("own_keys:itself",), distinct=True)
    made = generate(recipe, "made")
    assert len(made) == made.tally.kept == 9
    assert sum(made.tally.kept_values["own_keys:itself"].values()) == 60


@pytest.mark.parametrize(
    ("example", "same"),
    [
        (5, 5.0),
        (0, -0.0),
        (1.0, True),
        (Decimal("1.50"), 1.5),
        (Decimal("0.1"), Decimal("0.100")),
        ("é", "é".encode()),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"b": [{"c": 1}], "a": [1, 2]}, {"a": (1.0, 2.0), "b": ({"c": 1, "d": None},)}),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.arange(3), [0, 1, 2]),
    ],
)
def test_what_may_be_stored_alike_has_one_key(example, same):
    assert content_hashes(Batch.of([example])) == content_hashes(Batch.of([same]))


def test_what_differs_has_another_key():
    values = [5, 6, 5.5, 2**53, 2**53 + 1, "5", "", [5], [5, None], [], {"a": 5}, {"b": 5}]
    values += [None, float("nan"), float("inf"), [[5]], {"a": {"b": 5}}, Decimal("0.1")]
    hashes = [int(content_hashes(Batch.of([value]))[0]) for value in values]
    assert len(set(hashes)) == len(values)
