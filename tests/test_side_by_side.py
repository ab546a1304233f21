"""Runs on one folder at once, and what others did to it in between."""

import hashlib
import json
import os
import platform
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commands import UNSKEW
from tests.datasets import AT_THE_NEXT_DRAW, contents, edit_json, one_by_one
from tests.waiting import HANG, until
from unskew import Recipe, UnskewError, generate
from unskew.datasets.parts.part import NOTES, finished_part, part_name
from unskew.datasets.workers.parts import answering
from unskew.io.files import STALE, create_text, remove_left, write_by, write_text

SMALL = Recipe("calculator/dcfg", 250, {"p": 0.3}, shard_size=100)
OTHER = replace(SMALL, seed=4)
OF_ONES_OWN = Recipe("tests.datasets:digit", 250, shard_size=100)
DISTINCT = Recipe("calculator/dcfg", 3_000, {"p": 0.3}, shard_size=100, distinct=True)


def at_once(*works):
    """Run functions in threads at the same time; return what each returned or raised."""
    outcomes = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def call(number: int) -> None:
        barrier.wait()
        try:
            outcomes[number] = works[number]()
        except UnskewError as error:
            outcomes[number] = error

    threads = [threading.Thread(target=call, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


# Two recipes.


def test_of_two_recipes_at_once_one_gets_the_folder(tmp_path):
    whole = {
        recipe.hash: contents(generate(recipe, tmp_path / recipe.hash).folder)
        for recipe in (SMALL, OTHER)
    }
    for number in range(10):
        folder = tmp_path / f"both-{number}"
        dataset = at_once(lambda: generate(SMALL, folder), lambda: generate(OTHER, folder))  # noqa: B023
        errors = [error for error in dataset if isinstance(error, UnskewError)]
        assert len(errors) == 1
        assert "was made by another recipe" in str(errors[0])
        owner = Recipe.read(folder / "recipe.json").hash
        assert contents(folder) == whole[owner]


def test_a_recipe_that_comes_between_the_look_and_the_writing_stays(tmp_path, monkeypatch):
    link = os.link

    def late(beside, path):
        path.write_text(OTHER.to_json())
        link(beside, path)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(UnskewError, match="was made by another recipe"):
        generate(SMALL, tmp_path / "made")
    assert contents(tmp_path / "made") == {"recipe.json": OTHER.to_json().encode()}


def test_a_text_is_created_once(tmp_path):
    for number in range(50):
        path = tmp_path / f"{number}.txt"
        at_once(lambda: create_text(path, "a" * 9), lambda: create_text(path, "b" * 9))  # noqa: B023
        first = path.read_text()
        assert first in ("a" * 9, "b" * 9)
        create_text(path, "c")
        assert path.read_text() == first


def test_a_disk_without_links_gets_its_recipe_too(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert len(generate(SMALL, tmp_path / "made")) == 250


def test_a_folder_that_becomes_another_recipes_gets_no_more_parts(tmp_path):
    """As two runs on a store may have it, where the last recipe that is put stays."""
    folder = tmp_path / "made"

    def other_run(index):
        if index == 1:
            text = OTHER.to_json()
            AT_THE_NEXT_DRAW.append(lambda: write_text(folder / "recipe.json", text))

    with pytest.raises(UnskewError, match="was made by another recipe"):
        generate(OF_ONES_OWN, folder, engine=one_by_one(other_run))
    assert [path.name for path in (folder / "data").iterdir()] == ["train-00000-of-00003.parquet"]
    assert not (folder / "manifest.json").exists()
    assert contents(generate(OTHER, folder).folder) == contents(
        generate(OTHER, tmp_path / "alone").folder
    )


def test_a_part_of_another_recipe_or_number_is_not_there(tmp_path):
    made, other = generate(SMALL, tmp_path / "made"), generate(OTHER, tmp_path / "other")
    first, second = part_name(SMALL, 0), part_name(SMALL, 1)
    for name in (first, f"{NOTES}/{Path(first).stem}.json"):
        (made.folder / name).write_bytes((other.folder / name).read_bytes())
    assert finished_part(made.folder, SMALL, 0) is None  # whole, but of the other recipe
    note = json.loads((made.folder / NOTES / f"{Path(second).stem}.json").read_text())
    del note["digest"]
    note["file"] = first
    text = json.dumps(note, sort_keys=True)
    note["digest"] = hashlib.sha256(text.encode()).hexdigest()
    (made.folder / NOTES / f"{Path(first).stem}.json").write_text(json.dumps(note))
    (made.folder / first).write_bytes((made.folder / second).read_bytes())
    assert finished_part(made.folder, SMALL, 0) is None  # whole, but another number
    assert finished_part(made.folder, SMALL, 1) is not None


# One recipe, no repeats.


def test_two_runs_without_repeats_end_side_by_side(tmp_path):
    whole = contents(generate(DISTINCT, tmp_path / "whole").folder)
    assert not [name for name in whole if "drawn" in name]
    path = tmp_path / "recipe.json"
    path.write_text(DISTINCT.to_json())
    for number in range(3):
        folder = tmp_path / f"both-{number}"
        run = [*UNSKEW, "generate", str(path), "-o", str(folder)]
        first = subprocess.Popen([*run, "--workers", "1"])
        if number:  # so that one ends while the other still makes parts
            until(lambda: len(list(folder.rglob("*.parquet"))) >= 10 * number)  # noqa: B023
        second = subprocess.Popen([*run, "--workers", "1"])
        assert [first.wait(HANG), second.wait(HANG)] == [0, 0]
        assert contents(folder) == whole


def test_runs_in_threads_end_side_by_side(tmp_path):
    small = replace(DISTINCT, n=600)
    whole = contents(generate(small, tmp_path / "whole").folder)
    for number in range(5):
        folder = tmp_path / f"both-{number}"
        dataset = at_once(*[lambda: generate(small, folder)] * 3)  # noqa: B023
        assert not [error for error in dataset if isinstance(error, UnskewError)]
        assert contents(folder) == whole


def test_a_run_that_another_one_overtakes_while_it_makes_parts(tmp_path):
    """The other ends, and removes the parts as drawn; this one ends as well."""
    folder, small = tmp_path / "made", replace(DISTINCT, n=300)

    def overtake(index):
        if index == 1:
            generate(small, folder)

    generate(small, folder, engine=one_by_one(overtake))
    assert contents(folder) == contents(generate(small, tmp_path / "whole").folder)


def test_killed_while_repeats_are_left_out_it_goes_on(tmp_path, monkeypatch):
    folder, small = tmp_path / "made", replace(DISTINCT, n=300)
    put_in_place = os.replace

    def stopped(beside, path):
        if path == folder / part_name(small, 1):
            raise KeyboardInterrupt
        put_in_place(beside, path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            generate(small, folder)
    drawn = []
    generate(small, folder, engine=one_by_one(drawn.append))
    assert drawn == []
    assert contents(folder) == contents(generate(small, tmp_path / "whole").folder)


def test_nothing_is_put_in_place_after_a_part_that_is_missing(tmp_path):
    """Its keys are not known, so what repeats them is not known either."""
    folder, small = tmp_path / "made", replace(DISTINCT, n=400)

    def lazy(work):
        make = answering(work.task)
        for index in work.numbers:
            if index != 1:
                make(index)
            yield index, ()

    with pytest.raises(UnskewError, match=r"part 1 of .* is not whole; run the same"):
        generate(small, folder, engine=lazy)
    assert [path.name for path in (folder / "data").iterdir()] == ["train-00000-of-00004.parquet"]
    generate(small, folder)
    assert contents(folder) == contents(generate(small, tmp_path / "whole").folder)


# What is written beside.


def test_names_beside_are_nobody_elses(tmp_path):
    used = []

    def write(text):
        def to(beside):
            used.append(beside)
            if text == "1":
                write_by(tmp_path / "x", write("2"))  # while the other is written
            beside.write_text(text)

        return to

    write_by(tmp_path / "x", write("1"))
    assert len(set(used)) == 2
    assert (tmp_path / "x").read_text() == "1"


def test_what_killed_runs_left_is_removed_when_it_is_old(tmp_path):
    made = generate(SMALL, tmp_path / "made")
    old = made.folder / "data" / ".train-00000-of-00003.parquet.123.0011aabb.part"
    older = made.folder / ".recipe.json.123.part"
    young = made.folder / NOTES / ".train-00000-of-00003.json.123.0011aabb.part"
    others = made.folder / "data" / ".thesis.part"
    for path in (old, older, young, others):
        path.write_text("{")
    for path in (old, older, others):
        os.utime(path, (time.time() - STALE - 60,) * 2)
    generate(SMALL, made.folder)
    assert not old.exists()
    assert not older.exists()
    assert young.exists()
    assert others.exists()


def test_what_a_killed_process_left_is_removed_and_nothing_of_others(tmp_path, monkeypatch):
    """Another machine that shares the disk may have a process of the same number."""
    left: list[Path] = []

    def keep(beside):
        beside.write_text("{")
        os.link(beside, tmp_path / "kept")
        left.append(beside)

    def beside(process: int, machine: str) -> Path:
        with monkeypatch.context() as patch:
            patch.setattr("os.getpid", lambda: process)
            patch.setattr("platform.node", lambda: machine)
            write_by(tmp_path / "x" / f"{process}-{machine}", keep)
        os.rename(tmp_path / "kept", left[-1])
        return left[-1]

    mine, also, not_mine = (beside(process, platform.node()) for process in (11, 12, 111))
    elsewhere = beside(11, "another")
    remove_left(tmp_path, {11, 12})
    assert not mine.exists()
    assert not also.exists()
    assert not_mine.exists()
    assert elsewhere.exists()


# What is altered is not believed.


SECOND_NOTE = f"{NOTES}/train-00001-of-00003.json"


def altered_note(folder: Path) -> None:
    def change(note: Any) -> None:
        note["rows"] = 7
        note["tally"]["dropped"] = {"invented": 5}

    edit_json(folder / SECOND_NOTE, change)
    (folder / "manifest.json").unlink()


def note_without_digest(folder: Path) -> None:
    edit_json(folder / SECOND_NOTE, lambda note: note.pop("digest"))


def altered_rows(folder: Path) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(rows=2_507))


def altered_tally(folder: Path) -> None:
    dropped = {"invented": 5}
    edit_json(folder / "manifest.json", lambda made: made["tally"].update(dropped=dropped))


def altered_card(folder: Path) -> None:
    (folder / "README.md").write_text("# Mine")


def rows_of_another_kind(folder: Path) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(rows="x"))


@pytest.mark.parametrize(
    "alter",
    [
        altered_note,
        note_without_digest,
        altered_rows,
        altered_tally,
        altered_card,
        rows_of_another_kind,
    ],
)
def test_what_was_altered_is_written_again(alter, tmp_path):
    folder = generate(SMALL, tmp_path / "made").folder
    whole = contents(folder)
    alter(folder)
    assert len(generate(SMALL, folder)) == 250
    assert contents(folder) == whole
