"""Karel examples as rows: checked by running them, drawn for people."""

import re

import numpy as np
import pyarrow as pa
import pytest

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.domains import load_domain
from unskew.domains.karel import from_picture, parse, run, to_tokens, world

DOMAIN = load_domain("karel")
PROGRAM = parse("def main():\n    putMarker()\n    while(frontIsClear()): move()")
WORLDS = np.stack([from_picture(">. . .\n. . ."), from_picture(". . .\n. >3 .")])


def example() -> dict[str, object]:
    after = run(PROGRAM[None], WORLDS).worlds
    return {
        "program": to_tokens(PROGRAM),
        "inputs": WORLDS.tobytes(),
        "outputs": after.tobytes(),
    }


def batch(*rows: dict[str, object]) -> Batch:
    return Batch.from_arrow(pa.Table.from_pylist(list(rows)))


def test_an_example_is_right_if_the_program_makes_its_outputs():
    assert DOMAIN.check(batch(example(), example())).all()


@pytest.mark.parametrize("fault", ["output", "program", "no program", "crash"])
def test_a_planted_fault_is_found(fault):
    wrong = example()
    if fault == "output":
        wrong["outputs"] = wrong["inputs"]
    elif fault == "program":
        wrong["program"] = str(wrong["program"]).replace("putMarker", "turnLeft")
    elif fault == "no program":
        wrong["program"] = "DEF run m( m)"
    else:  # the world is as it was before the crash, so the outputs alone would not tell
        wrong["program"] = to_tokens(parse("def main():\n    pickMarker()\n    move()"))
        wrong["outputs"] = run(parse(f"{wrong['program']}")[None], WORLDS).worlds.tobytes()
    assert DOMAIN.check(batch(example(), wrong)).tolist() == [True, False]


def test_show_draws_the_program_and_both_worlds(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert DOMAIN.show(example()).splitlines() == [
        "def main():",
        "    putMarker()",
        "    while(frontIsClear()):",
        "        move()",
        "",
        "pair 1",
        ">. . .  ->   1 .>.",
        " . . .       . . .",
        "",
        "pair 2",
        " . . .  ->   . . .",
        " .>3 .       . 4>.",
    ]
    monkeypatch.delenv("COLUMNS")
    assert any(re.fullmatch("pair 1 +pair 2", line) for line in DOMAIN.show(example()).splitlines())


def test_rows_that_hold_no_worlds_are_refused():
    with pytest.raises(UnskewError, match="260 bytes"):
        DOMAIN.check(batch({**example(), "inputs": b"abc"}))
    with pytest.raises(UnskewError, match="Karel needs 'outputs'"):
        DOMAIN.check(batch({key: example()[key] for key in ("program", "inputs")}))


def test_a_program_without_worlds_is_shown_and_written():
    row = {"program": "DEF run m( move m)"}
    assert DOMAIN.show(row) == "def main():\n    move()"
    assert DOMAIN.formats.write_row({**row, "name": "step"}) == {**row, "name": "step"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"markers": "0:1:3 0:1:5"}, "two counts of markers for cell 0:1"),
        ({"rows": 3.9}, "3.9 rows"),
    ],
)
def test_a_grid_that_contradicts_itself_is_refused(change, message):
    grid = {"rows": 3, "cols": 3, "hero": "0:0:east", "blocked": "", "markers": ""}
    with pytest.raises(UnskewError, match=message):
        world.from_json({**grid, **change})
    with pytest.raises(UnskewError, match="Karel faces 9; give 0 to 3"):
        world.make_world(3, 3, (0, 0, 9), [], {})
