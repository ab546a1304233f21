"""The page of a reproduction: every number beside the paper's, nothing hidden, nothing believed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

from tests.reproduction_results import (
    ATTACK,
    PROVENANCE,
    SETS,
    cell,
    everything,
    hostile,
    passes,
    result,
    table,
)
from unskew.audits.audit import Audit
from unskew.audits.records import VariableAudit
from unskew.audits.report.charts import theme
from unskew.audits.report.page import vega
from unskew.core.errors import UnskewError
from unskew.domains.karel.formats.problems import problems
from unskew.domains.karel.language.syntax import parse, readable_lines
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import steps
from unskew.domains.karel.world import WALL, World, grid_of, hero_of
from unskew.experiments.page import charts as drawing
from unskew.experiments.page import sentences as writing
from unskew.experiments.page import tasks as pages
from unskew.experiments.page.calculator import calculator_result
from unskew.experiments.page.charts import GREY
from unskew.experiments.page.page import reproduction_page, write_page
from unskew.experiments.table import Result, Table, duration, signed

ROOT = Path(__file__).parents[1]
Data = dict[str, Any]
SEEDS = "76.96 to 78.96 seeds 77.50, 78.00, 78.38"


class Parsed(HTMLParser):
    """The elements of a page, its text, and its tables by caption, row by row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.tables: dict[str, list[list[str]]] = {}
        self.bold: set[str] = set()
        self._inside: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        if "script" in self._inside or "style" in self._inside:
            return
        self.text += data
        if "caption" in self._inside:
            self._caption += data
        elif {"td", "th"} & set(self._inside):
            self._rows[-1][-1] += data
            if "strong" in self._inside:
                self.bold.add(data)

    def names(self) -> list[str]:
        return [name for name, _ in self.elements]


def table_heatmap(one: Data) -> Data:
    return drawing.table_heatmap(Table.of(one))


def lines_chart(one: Data) -> Data:
    return drawing.lines_chart(Table.of(one))


def panels(tables: list[Data]) -> dict[str, Data]:
    return drawing.panels([Table.of(one) for one in tables])


def beside_chart(results: list[Data]) -> Data | None:
    return drawing.beside_chart([Result.of(one) for one in results])


def sentences(one: Data, told: set[Any] | None = None) -> Iterator[str]:
    return writing.sentences(Result.of(one), told)


@pytest.fixture(scope="module")
def page() -> Parsed:
    return Parsed(reproduction_page(everything()))


def test_the_paper_ours_the_difference_and_the_interval_stand_side_by_side(page: Parsed) -> None:
    rows = page.tables["Generalization of the baseline"]
    assert rows[0] == ["", "baseline"]
    assert rows[1] == ["paper", "ours", "difference", "95 % interval", "common programs"]
    assert rows[2] == ["original test set", "73.52", "77.96", "+4.44", SEEDS, "–"]
    assert rows[3] == ["uniform test set", "27.90", "50.66", "+22.76", "49.66 to 51.66", "52.80"]
    assert {"+4.44", "+22.76"} <= page.bold  # the paper's number lies outside the interval


def test_models_stand_side_by_side_and_what_was_not_run_says_so(page: Parsed) -> None:
    rows = page.tables["By set"]
    assert rows[0] == ["", "baseline", "uniform"]
    assert rows[2][:5] == [".05/.85 G", "24.30", "47.93", "+23.63", "46.93 to 48.93"]
    assert rows[2][5:] == ["69.37", "68.40", "−0.97", "67.40 to 69.40"]
    assert rows[4] == [".05/.85 A", "0.04", "not run", "68.99", "69.00", "+0.01", "68.00 to 70.00"]
    assert rows[5][-2:] == ["63.25", "not run"]
    assert "−0.97" not in page.bold
    assert "2 cells not run." in page.text


def test_a_long_table_has_a_block_for_each_row(page: Parsed) -> None:
    rows = page.tables["Model × test set"]
    assert rows[0] == ["", "ours", "95 % interval"]  # the paper has no numbers of it
    assert rows[1] == ["narrow .05/.85 G"]
    assert rows[2] == [".05/.85 G", "10", "9 to 11"]
    assert [".05/.85 A", "not run"] in rows
    assert rows[-1] == [".25/.65 G", "–"]  # there is no such cell


def test_every_number_of_every_cell_is_in_its_table(page: Parsed) -> None:
    looked_at = 0
    for a_result in everything():
        for one in a_result["tables"]:
            texts = [text for row in page.tables[one["title"]] for text in row]
            places = 0 if one["title"] in ("Model × test set", "Problems solved") else 2
            for cell_ in one["cells"]:
                numbers = [cell_["paper"], cell_["ours"] and cell_["ours"]["mean"]]
                for number in (n for n in numbers if n is not None):
                    assert f"{number:.{places}f}" in texts
                    looked_at += 1
    assert looked_at > 30


def test_whole_numbers_stay_whole_and_the_unit_is_said(page: Parsed) -> None:
    rows = page.tables["Problems solved"]
    assert rows[2:] == [["baseline", "4", "6", "3 to 9"], ["uniform", "7", "not run"]]
    assert "Problems of 41; 41 tasks; 1 seed." in page.text
    assert "Percent; 2,410 tasks; 1 to 3 seeds" in page.text


def test_the_head_says_what_was_run_on_what_and_how_long(page: Parsed) -> None:
    head = page.text.partition("In short")[0]
    for text in (
        "Numbers23 of 27 run, 9 next to a number of the paper",
        "11 min 6 s",
        "one GPU",
        "abc123",
    ):
        assert text in head
    assert "4 min 51 s" in Parsed(reproduction_page([everything()[0]] * 2)).text, "shared, once"
    assert "A cell that was not run says so. The original test set of Karel is recreated" in head
    assert "Nothing is left out" not in head
    assert "recreated" not in Parsed(reproduction_page([result("calculator", "C", [])])).text
    assert "Not at full scale" not in page.text
    smoke = everything()[0] | {"scale": "smoke"}
    assert "Not at full scale" in (short := Parsed(reproduction_page([smoke])).text)
    assert "The original (smoke)" in short


def test_the_words_of_karel_are_told_where_it_is_shown(page: Parsed) -> None:
    head = page.text.partition("In short")[0]
    assert "What the words mean" in head
    for word in ("generalizes", "msr-test", "r_wall-r_marker-counts", "covered", "beyond"):
        assert word in head
    kinds = [attributes for name, attributes in page.elements if name == "details"]
    assert "open" not in kinds[0]
    assert (
        "On actions-test and on problems the model sees all pairs, and no pair is held out" in head
    )
    assert "writes for a task: 64 on uniform-test, 8 elsewhere" in head
    assert "for which 20,000 draws found no valid worlds. A test set leaves them out" in head
    alike = everything()[0] | {"tests": {"karel/problems": {"tasks": 1, "dropped": 0, "beam": 4}}}
    assert "a task: 4 on every test set" in Parsed(reproduction_page([alike])).text
    other = Parsed(reproduction_page([result("calculator", "C", [])]))
    assert "What the words mean" not in other.text


def test_what_was_trained_and_tested_is_told(page: Parsed) -> None:
    trained = page.tables["The models"]
    assert trained[1] == [
        *("baseline", "0", "an endless stream of karel/msr, each example used twice"),
        *("12,800", "2,048", "26,214,400", "13,107,200", "2", "1 to 5", "4 min 51 s"),
        "9f86d081884c",
    ]
    assert page.tables["The test sets"][1] == ["karel/uniform-test", "2,434", "66", "64"]


def test_few_numbers_are_said_one_by_one() -> None:
    lines = list(sentences(everything()[0]))
    assert lines == [
        "baseline / original test set: ours 78.0 %, the paper's 73.5 %, +4.4 points.",
        "baseline / uniform test set: ours 50.7 %, the paper's 27.9 %, +22.8 points.",
    ]
    assert list(sentences(everything()[3])) == [
        "baseline / solved: ours 6, the paper's 4. Not run: 1 of 2 cells (uniform / solved)."
    ]


def test_many_numbers_are_said_row_by_row() -> None:
    """A model that is above the paper's and one that is below never share a median."""
    (lines,) = sentences(everything()[1])
    assert lines.split("\n") == [
        "By set",
        "baseline: 3 of 3 higher than the paper's; median difference +23.6 points, "
        "from +19.1 to +44.8.",
        "uniform: 1 of 3 higher than the paper's, 2 lower; median difference −0.3 points, "
        "from −1.0 to 0.0.",
        "Not run: 2 of 8 cells (baseline / .05/.85 A; uniform / .25/.65 G).",
    ]
    html = reproduction_page(everything())
    assert "<li>By set<ul><li>baseline: 3 of 3 higher" in html


def test_what_was_found_is_said_where_the_paper_has_no_numbers() -> None:
    """A table's own sentence; or its rows, lines by their ends and others by their extremes."""
    (lines,) = sentences(everything()[2])
    assert lines.split("\n")[:3] == [
        "Model × test set",
        "narrow .05/.85 G: from 10 % (.05/.85 G) to 13 % (.25/.65 G).",
        "narrow .05/.85 U: from 30 % (.05/.85 G) to 33 % (.25/.65 G).",
    ]
    cells = [cell("a", "stream", None, 68.26), cell("a", "32", None, 12.64)]
    cells += [cell("a", "64", None, 99.0), cell("b", "64", None, 5.0)]
    one = table("By size", ["a", "b"], ["32", "64", "stream"], cells, form="lines")
    (lines,) = sentences(result("x", "X", [one]))
    assert lines.split("\n") == [
        "By size",
        "a: 12.6 % with 32, 68.3 % with stream.",
        "b: 5.0 % with 64.",
    ]
    loss = one | {"form": "heatmap", "unit": "nats a token", "title": "Loss"}
    assert "\na: from 12.64 (32) to 99.00 (64).\nb: 5.00 (64)." in next(
        sentences(result("x", "X", [loss]))
    )
    with_sentence = one | {"found": "The worst <b>cell</b>: a 12.6 on 32."}
    text = Parsed(reproduction_page([result("x", "X", [with_sentence])])).text
    assert "By size: The worst <b>cell</b>: a 12.6 on 32." in text
    nothing = with_sentence | {"cells": [cell("a", "32", None, None)]}
    assert list(sentences(result("x", "X", [nothing]))) == [
        "By size: Not run: 1 of 1 cell (a / 32)."
    ]


def shown(one: dict[str, Any]) -> Parsed:
    return Parsed(reproduction_page([result("karel-x", "X", [one])]))


def test_all_on_one_side_is_said_and_never_that_a_wide_interval_agrees() -> None:
    wide = [
        cell("baseline", name, 1.0, 10.25 + i, half=50.0, values=[1.0, 2.0])
        for i, name in enumerate("abcde")
    ]
    one = table("Wide", ["baseline"], list("abcde"), wide)
    assert list(sentences(result("x", "X", [one]))) == [
        "Wide\nbaseline: 5 of 5 higher than the paper's; median difference +11.2 points, "
        "from +9.2 to +13.2."
    ]
    text = shown(one).text
    assert "inside our" not in text
    assert "two seeds is wide: a number inside it may still differ from ours" in text
    mixed = [cell("baseline", "a", 9.5, 9.501), cell("baseline", "b", 9.5, 8.0), *wide[2:]]
    (lines,) = sentences(result("x", "X", [one | {"cells": mixed}]))
    assert "baseline: 3 of 5 higher than the paper's, 1 lower, 1 equal; median" in lines


def test_a_row_of_few_numbers_has_each_of_them_and_none_is_said_twice() -> None:
    rows = ["baseline", "uniform", "beyond"]
    cells = [
        cell(row, column, 20.0 + j, 22.5 + i)
        for i, row in enumerate(rows)
        for j, column in enumerate(("original", "uniform"))
    ]
    told: set[Any] = set()
    one = table("Few", rows, ["original", "uniform"], cells)
    (lines,) = sentences(result("x", "X", [one]), told)
    assert lines.split("\n")[:3] == [
        "Few",
        "baseline / original: ours 22.5 %, the paper's 20.0 %, +2.5 points.",
        "baseline / uniform: ours 22.5 %, the paper's 21.0 %, +1.5 points.",
    ]
    assert list(sentences(result("y", "Y", [one]), told)) == []


def test_every_seed_is_shown_in_the_table_and_over_the_heatmap() -> None:
    cells = [
        cell("baseline", "a", 1.5, 20.65, half=50.0, values=[0.4, 40.9]),
        cell("baseline", "b", 1.5, 20.65),
    ]
    one = table("Seeds", ["baseline"], ["a", "b"], cells, form="heatmap")
    rows = shown(one).tables["Seeds"]
    assert rows[2][4] == "−29.35 to 70.65 seeds 0.40, 40.90"
    assert rows[3][4] == "19.65 to 21.65"
    spec = table_heatmap(one)
    tips = {tip.get("title", tip["field"]): tip["field"] for tip in spec["encoding"]["tooltip"]}
    first, second, *_ = spec["data"]["values"]
    assert first[tips["seeds"]] == "0.40, 40.90"
    assert second[tips["seeds"]] == "–"
    assert first[tips["95 % interval"]] == "−29.35 to 70.65"
    assert first[tips["difference"]] == "+19.15"


def test_a_model_of_which_nothing_is_known_has_one_line() -> None:
    """Also in a table that is so large that every model has lines of its own."""
    models = ["a", "b", "c", "d", "e"]
    cells = [cell(model, name, None, 50.0) for model in models[:3] for name in SETS]
    cells += [cell("d", name, 20.0, None) for name in SETS]  # what the paper has is told
    cells += [cell("e", name, None, None) for name in SETS]
    names = [row[0] for row in shown(table("Long", models, SETS, cells)).tables["Long"]]
    blocks = [names[names.index(model) + 1 :][: len(SETS)] for model in models]
    assert blocks[:4] == [SETS] * 4
    assert blocks[4] == ["all cells"]


def test_a_heatmap_says_what_its_sides_are_and_writes_small_numbers_too() -> None:
    cells = [cell(model, name, None, 0.454) for model in ("a", "b") for name in SETS]
    sides = ["trained on", "tested on"]
    one = table("Loss", ["a", "b"], SETS, cells, form="heatmap", unit="nats a token", sides=sides)
    spec = table_heatmap(one)
    assert [spec["encoding"][axis]["title"] for axis in "xy"] == sides
    svg = vl_convert.vegalite_to_svg(spec, config=theme(dark=False))
    assert svg.count(">0.45<") == len(cells)


def test_a_number_without_an_interval_has_a_dash() -> None:
    bare = {"low": None, "high": None}
    cells = [
        cell("baseline", "a", None, 0.454, **bare),
        cell("baseline", "b", None, 0.5, values=[0.4, 0.6], **bare),
        cell("baseline", "c", 0.4, 0.52, half=0.01),
    ]
    one = table("Loss", ["baseline"], ["a", "b", "c"], cells, unit="nats a token")
    rows = shown(one).tables["Loss"]
    assert rows[2][1:] == ["–", "0.45", "–", "–"]
    assert rows[3][1:] == ["–", "0.50", "–", "– seeds 0.40, 0.60"]
    assert rows[4][1:] == ["0.40", "0.52", "+0.12", "0.51 to 0.53"]
    none = table("Loss", ["baseline"], ["a"], cells[:1], unit="nats a token")
    assert shown(none).tables["Loss"][1:] == [["ours"], ["a", "0.45"]]
    lines = lines_chart(one | {"form": "lines"})
    svg = vl_convert.vegalite_to_svg(lines, config=theme(dark=False))
    assert svg.count('aria-roledescription="rule mark"') == 1  # no interval is drawn from nothing


def test_counts_of_other_problems_stand_side_by_side_and_are_not_subtracted() -> None:
    cells = [
        cell("baseline", name, 4 + i, 4.5 + i, half=0.1, values=[4.0 + i, 5.0 + i])
        for i, name in enumerate("abcde")
    ]
    one = table("Solved", ["baseline"], list("abcde"), cells, unit="problems of 41", paper_of=36)
    page = shown(one)
    assert page.tables["Solved"][1] == ["paper", "ours", "95 % interval"]
    assert page.tables["Solved"][2] == ["a", "4", "4.5", "4.4 to 4.6 seeds 4, 5"]
    assert "the paper counts 36 other problems." in page.text  # and nothing of two seeds
    assert "is bold" not in page.text
    lines = list(sentences(result("x", "X", [one])))
    assert len(lines) == 5  # however many: there is no difference to sum them up by
    assert lines[0] == "baseline / a: ours 4.5 of 41, the paper's 4 of 36 other problems."
    unsure = {key: value for key, value in one.items() if key != "paper_of"}
    assert next(sentences(result("x", "X", [unsure]))) == "baseline / a: ours 4.5, the paper's 4."


def test_a_fact_is_said_once() -> None:
    """Whatever its column is called; another model's is another fact, though it be the same."""

    def one(name: str, *rows: str) -> dict[str, Any]:
        cells = [cell(row, name, 73.52, 76.98, values=[77.36, 76.6]) for row in rows]
        return table(name, list(rows), [name], cells)

    first = result("x", "X", [one("original", "baseline"), one("generalizes", "baseline")])
    second = result("y", "Y", [one("again", "baseline", "other")])
    third = result("z", "Z", [one("once more", "baseline")])
    short = Parsed(reproduction_page([first, second, third])).text
    short = short.partition("In short")[2].partition("The paper’s section")[0]
    assert short.count("baseline / ") == 1
    assert "baseline / original: ours 77.0" in short
    assert "other / again: ours 77.0" in short
    assert "The numbers of this experiment are listed above." in short


def test_a_cell_without_tasks_is_not_one_that_was_not_run() -> None:
    empty = cell("baseline", "8", 1.5, None) | {"empty": True}
    cells = [cell("baseline", "1", 1.5, 20.5), empty, cell("baseline", "9", 1.5, None)]
    one = table("By length", ["baseline"], ["1", "8", "9"], cells, form="heatmap")
    page = shown(one)
    assert page.tables["By length"][3:] == [["8", "1.5", "no tasks"], ["9", "1.5", "not run"]]
    assert "1 of 2 run" in page.text
    assert "1 cell not run." in page.text
    assert "Not run: 1 of 2 cells (baseline / 9)" in page.text
    svg = vl_convert.vegalite_to_svg(table_heatmap(one), config=theme(dark=False))
    assert (svg.count(">no tasks<"), svg.count(">not run<")) == (1, 1)
    none = shown(one | {"cells": [empty]})
    assert "There were no tasks." in none.text
    assert "not run." not in none.text.partition("In short")[2]


def test_nothing_run_is_said() -> None:
    cells = [cell("a", name, 1.5, None) for name in SETS]
    nothing = result("none", "Nothing", [table("Empty", ["a"], SETS, cells, form="heatmap")])
    text = Parsed(reproduction_page([nothing])).text
    assert "Empty: Not run: 4 of 4 cells" in text
    assert "0 of 4 run" in text


def test_a_heatmap_leaves_out_what_was_not_run() -> None:
    cells = [cell(model, name, None, 50.0) for model in ("a", "b") for name in SETS]
    cells += [cell("c", name, None, None) for name in SETS]
    cells[1] = cell("a", SETS[1], None, None)
    drawn = table_heatmap(table("Half", ["a", "b", "c"], SETS, cells, form="heatmap"))
    values = drawn["data"]["values"]
    assert {value["row"] for value in values} == {"a", "b"}
    assert len(values) == 2 * len(SETS)  # a on the second set was not run, but both have others
    domains = [drawn["encoding"][axis]["scale"]["domain"] for axis in "xy"]
    assert sorted(domains, key=len) == [["a", "b"], list(SETS)]


def test_a_heatmap_has_the_papers_numbers_in_front_of_the_first_model_they_belong_to() -> None:
    """Once, though several models share them; where the paper has none there is a dash."""
    rows = ["baseline, whole", "uniform, whole", "baseline", "uniform", "beyond"]
    paper = {"baseline": [73.5, 24.3, 1.3, 0.1], "uniform": [None, 69.4, 70.2, 68.9]}
    cells = [
        cell(row, name, number, None if row == "baseline, whole" else 50.0)
        for row in rows
        for name, number in zip(SETS, paper.get(row.partition(",")[0], [None] * 4), strict=True)
    ]
    one = table("Paper", rows, SETS, cells, form="heatmap")
    spec = table_heatmap(one)
    names = ["the paper's uniform", "uniform, whole", "the paper's baseline", *rows[2:]]
    assert [spec["encoding"][axis]["scale"]["domain"] for axis in "xy"] == [SETS, names]
    svg = vl_convert.vegalite_to_svg(spec, config=theme(dark=False))
    assert [svg.count(f">{number}<") for number in (73.5, 24.3, 70.2, "–")] == [1] * 4
    slanted = re.findall(r'font-style="italic"[^>]*>([^<]*)<', svg)
    assert [text for text in slanted if text != "–"] == [names[0], names[2]]
    tips = {tip.get("title", tip["field"]): tip["field"] for tip in spec["encoding"]["tooltip"]}
    value = next(v for v in spec["data"]["values"] if v["value"] == 24.3)
    assert [value[tips[key]] for key in ("the paper's", "ours", "difference")] == ["24.3", "–", "–"]


def test_a_heatmap_frames_models_on_what_they_were_trained_on() -> None:
    trained = ["trained on", "tested on"]
    for names, frames, sides in (
        (["a", "b", "c"], 2, trained),
        (["x", "y", "z"], 0, trained),
        (["a", "b", "c"], 0, ["model", "tested on"]),
    ):
        cells = [cell(model, name, None, 50.0) for model in ("a", "b", "d") for name in names]
        if names[0] == "a":
            cells[1] = cell("a", "b", None, None)
            cells += [cell("c", name, None, None if name == "c" else 50.0) for name in names]
        one = table("Own", ["a", "b", "d", "c"], names, cells, form="heatmap", sides=sides)
        svg = vl_convert.vegalite_to_svg(table_heatmap(one), config=theme(dark=False))
        assert len(re.findall(r'<path [^>]*"rect mark"[^>]*stroke-width="2"', svg)) == frames
        page = Parsed(reproduction_page([result("karel-own", "Own", [one])])).text
        assert ("A frame marks" in page) == bool(frames)


def test_lines_of_shares_go_up_to_all_of_them_on_every_chart() -> None:
    for unit, high in (("%", 100), ("nats a token", None)):
        cells = [cell("a", column, None, 20.0) for column in ("1", "2")]
        drawn = lines_chart(table("T", ["a"], ["1", "2"], cells, form="lines") | {"unit": unit})
        domain = drawn["layer"][0]["encoding"]["y"]["scale"].get("domain")
        assert domain == ([0, high] if high else None)


def test_lines_say_what_is_along_their_axis() -> None:
    cells = [cell("a", column, None, 20.0) for column in ("1", "2")]
    one = table("T", ["a"], ["1", "2"], cells, form="lines")
    assert lines_chart(one)["encoding"]["x"]["title"] is None
    titled = lines_chart(one | {"sides": ["model", "pairs shown"]})
    assert ">pairs shown<" in vl_convert.vegalite_to_svg(titled, config=theme(dark=False))


def test_tables_of_one_figure_are_drawn_together() -> None:
    """A panel for each row, a line for each table, in the same colours and to the same height."""
    drawn = panels(passes()["tables"])
    assert list(drawn) == ["msr-test", "uniform-test", "narrow-test"]
    looks = [spec["layer"][0]["encoding"] for spec in drawn.values()]
    assert [look["y"]["scale"] for look in looks] == [{"domain": [0, 100]}] * 3
    colours = [look["color"]["scale"]["domain"] for look in looks]
    assert colours == [["trained on like the original", "trained on uniform"]] * 3
    svgs = [vl_convert.vegalite_to_svg(s, config=theme(dark=False)) for s in drawn.values()]
    blue = theme(dark=False)["range"]["category"][1]
    lines = [re.findall(r'"line mark"[^>]*stroke="(.*?)"', svg) for svg in svgs]
    assert [len(line) for line in lines] == [2, 2, 1]  # nothing of the first was run there
    assert [line[-1] for line in lines] == [blue] * 3
    assert all(">32<" in svg and ">400 passes<" in svg for svg in svgs)
    page = Parsed(reproduction_page([passes()]))
    assert {"By size, like the original", "By size, uniform"} <= page.tables.keys()
    text = page.text.partition("What of karel-passes?")[2]
    assert text.count("The numbers as a table, trained on") == 2
    assert text.count("narrow-test") == 1 + 2  # the panel, and both tables
    assert "3 cells not run." in text
    assert page.names().count("h3") == 1
    keys = [attributes.get("style") for name, attributes in page.elements if name == "span"]
    assert [key for key in keys if key] == [f"background: var(--series-{i})" for i in (0, 1)]
    nothing = [one | {"cells": []} for one in passes()["tables"]]
    assert "panels" not in str(Parsed(reproduction_page([result("x", "X", nothing)])).elements)


def test_times_of_models_that_were_trained_side_by_side_are_said_to_be_added_up() -> None:
    results = everything()
    assert "in total" not in Parsed(reproduction_page(results)).text
    for training in results[0]["trainings"]:
        training["at_once"] = 2
    assert (
        "in total; some trainings ran at the same time" in Parsed(reproduction_page(results)).text
    )


def test_each_commit_is_named_once_and_short() -> None:
    one, two = "a" * 40, "b" * 40
    results = everything()[:3]
    for item, text in zip(results, (f"{one}; {two}", two, f"{two}; unknown"), strict=True):
        item["provenance"] = item["provenance"] | {"commit": text}
    assert f"{one[:10]}; {two[:10]}; unknown" in Parsed(reproduction_page(results)).text


def test_signs_and_times() -> None:
    assert [signed(1.25, 1), signed(-0.04, 1), signed(-3.0, 0)] == ["+1.2", "0.0", "−3"]
    assert [duration(59.6), duration(61), duration(7384)] == ["1 min 0 s", "1 min 1 s", "2 h 3 min"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tables": [{"title": "t"}]}, "a table of karel-x has no unit"),
        ({"tables": [table("t", ["a"], ["b"], [cell("c", "b", 1, 2)])]}, "a cell c, b outside"),
        ({"tables": [table("t", ["a"], ["b"], [], form="pie")]}, "allowed are table, heatmap"),
        ({"tables": [table("t", ["a"], ["b"], [{"row": "a"}])]}, "has no column"),
    ],
)
def test_what_is_no_result_is_refused_in_a_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UnskewError, match=message) as error:
        reproduction_page([result("karel-x", "X", []) | change])
    assert "\n" not in str(error.value)


def test_no_results_are_refused() -> None:
    with pytest.raises(UnskewError, match="no results"):
        reproduction_page([])


def test_charts_have_every_cell_and_the_papers_numbers() -> None:
    lines = everything()[1]["tables"][0]
    points = lines_chart(lines)["data"]["values"]
    assert sum(point["whose"] == "ours" for point in points) == 6
    assert sum(point["whose"] == "the paper's" for point in points) == 8
    assert {point.get("series") for point in points} == {None, "paper: baseline", "paper: uniform"}
    grid = everything()[2]["tables"][0]
    spec = table_heatmap(grid)
    assert len(spec["data"]["values"]) == len(grid["cells"])
    svg = vl_convert.vegalite_to_svg(spec, config=theme(dark=False))
    assert svg.count(">not run<") == 1
    assert ">72.0<" in svg
    beside = beside_chart(everything())
    assert beside is not None
    assert len(beside["layer"][1]["data"]["values"]) == 8  # those in percent
    assert beside_chart([everything()[2]]) is None


def test_lines_have_the_rows_that_were_run_and_each_series_of_the_paper_once() -> None:
    rows = ["baseline, whole", "baseline, passes", "baseline", "uniform", "uniform, other"]
    cells = [
        cell(row, column, paper, None if row.endswith("whole") else 20.0 + i)
        for i, row in enumerate(rows)
        for column, paper in {"1": 8.0, "2": 9.0 + i if row.startswith("uniform") else 9.0}.items()
    ]
    one = table("T", rows, ["1", "2"], cells, form="lines")
    spec = lines_chart(one)
    svg = vl_convert.vegalite_to_svg(spec, config=theme(dark=False))
    legends = re.findall(r"Symbol legend for [\w ]+ with \d values: ([^\"]*)", svg)
    paper = "paper: baseline, paper: uniform, paper: uniform, other"
    assert sorted(legends) == ["baseline, passes, baseline, uniform, uniform, other", paper]
    drawn = [point for point in spec["data"]["values"] if point["whose"] != "ours"]
    assert len(drawn) == 2 * 3
    lines = re.findall(r'aria-roledescription="line mark"[^>]*', svg)
    assert sum("stroke-dasharray" in line and GREY in line for line in lines) == 3
    assert len(lines) == 3 + 4
    symbols = re.findall(r'<path [^>]*d="M-10,0L10,0"[^>]*>', svg)
    dashes = [dash for symbol in symbols for dash in re.findall(r'dasharray="(.*?)"', symbol)]
    assert len(set(dashes)) == len(symbols) == 3
    assert all(f'stroke="{GREY}"' in symbol for symbol in symbols)


def test_points_beside_the_papers_tell_how_a_model_was_trained() -> None:
    rows = ["baseline, whole", "baseline, passes", "baseline", "baseline, twice as long"]
    cells = [cell(row, "set", 20.0, 30.0) for row in rows]
    spec = beside_chart([result("karel-x", "X", [table("T", rows, ["set"], cells)])])
    assert spec is not None
    points = spec["layer"][1]
    by_row = {point["row"]: point["trained on"] for point in points["data"]["values"]}
    passes = ["passes over the whole set", "passes over a small set"]
    assert list(by_row.values()) == [*passes, "a stream", "a stream"]
    assert points["encoding"]["color"]["field"] == "trained on"
    assert points["encoding"]["shape"]["field"] == "experiment"
    tips = [tip["field"] for tip in points["encoding"]["tooltip"]]
    assert {"row", "column", "table", "experiment", "trained on"} <= set(tips)
    other = beside_chart([result("calculator", "C", [table("T", rows, ["set"], cells)])])
    assert other is not None
    assert other["layer"][1]["data"]["values"][0]["trained on"] == "Calculator data"
    few = beside_chart([result("karel-x", "X", [table("T", rows[2:], ["set"], cells[2:])])])
    assert few is not None
    color = few["layer"][1]["encoding"]["color"]
    assert color["legend"]["values"] == ["a stream"]
    assert color["scale"] == points["encoding"]["color"]["scale"]  # whatever was run


def test_numbers_on_a_heatmap_can_be_read() -> None:
    """The colours meet where black and white are equally legible: above 4.2 everywhere."""
    for dark in (False, True):
        look = theme(dark=dark)
        low, high = (np.array(_rgb(c)) for c in look["range"]["heatmap"])
        for share in np.linspace(0, 1, 101):
            ground = low + share * (high - low)
            name = "on-high" if share > 0.74 else "on-low"
            ink = {"black": (0, 0, 0), "white": (255, 255, 255)}[look["style"][name]["color"]]
            assert _contrast(ground, ink) > 4.2


def _rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _contrast(one: Any, other: Any) -> float:
    def luminance(rgb: Any) -> float:
        parts = np.array(rgb) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_headings_go_down_one_by_one_and_tables_have_captions_and_scopes(page: Parsed) -> None:
    levels = [int(name[1]) for name in page.names() if re.fullmatch(r"h\d", name)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.names().count("caption") == page.names().count("table")
    heads = [attributes for name, attributes in page.elements if name == "th"]
    assert all(head.get("scope") in ("row", "col", "rowgroup", "colgroup") for head in heads)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        target = attributes.get("href") or ""
        assert not target.startswith("#") or target[1:] in ids


def test_the_page_loads_nothing() -> None:
    html = reproduction_page(everything(), pages.failure_tasks(everything()))
    own = html.replace(vega(), "")
    assert not re.search(r"(src|href)=.?https?:|@import|url\(", own)
    assert "default-src 'none'" in own


def comparison() -> Any:
    def side(label: str, counts: dict[Any, int]) -> Audit:
        return Audit(label, 10, 10, {"walls": VariableAudit("walls", counts, False, "doc")}, {})

    return side("before <b>", {ATTACK: 9, "b": 1}).compare(side("after <b>", {ATTACK: 5, "b": 5}))


def test_histograms_before_and_after_have_their_tables() -> None:
    html = reproduction_page(everything(), comparisons=[comparison()])
    parsed = Parsed(html)
    assert "before <b> against after <b>" in parsed.text
    assert parsed.names().count("b") == 0
    assert "90 %" in parsed.text
    assert "50 %" in parsed.text
    assert "KL that is left, in nats" in parsed.text
    assert "After: homogenized" not in parsed.text  # these were drawn, not homogenized


def test_text_of_results_is_never_markup() -> None:
    html = reproduction_page(hostile(), pages.failure_tasks(hostile()), [comparison()])
    parsed = Parsed(html)
    assert parsed.names().count("script") == 4  # charts, tasks, Vega, and the page's own
    for name in ("img", "b", "u"):
        assert name not in parsed.names()
    assert not [key for _, attributes in parsed.elements for key in attributes if key[:2] == "on"]
    assert parsed.text.count(ATTACK) > 10
    blocks = re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', html)
    data = {name: json.loads(text) for name, text in blocks}
    assert set(data) == {"charts", "tasks"}
    assert data["charts"]["specs"][0]["data"]["values"][0]["row"] == f"row {ATTACK}"
    assert data["tasks"]["sets"][0]["tasks"][0]["programs"][1]["text"] == ATTACK


def replayed(pair: dict[str, Any], run: dict[str, Any], ticks: int) -> tuple[str, int, int]:
    """Do what the page does: the world after so many ticks."""
    _, _, cells, at, facing = pair["before"]
    content = list(cells)
    for i in range(ticks):
        _, pose, markers, _ = run["ticks"][4 * i : 4 * i + 4]
        at, facing = pose >> 2, pose & 3
        content[at] = str(markers) if markers else "."
    return "".join(content), at, facing


def as_page(world: World) -> tuple[str, int, int]:
    grid = grid_of(world)
    row, column, facing = hero_of(world)
    cells = "".join("#" if v == WALL else str(v or ".") for v in grid.ravel().tolist())
    return cells, row * grid.shape[1] + column, facing


def test_a_task_replays_as_the_interpreter_runs_it() -> None:
    looked_at = 0
    for problem, task in zip(problems().values(), pages.problem_tasks()["tasks"], strict=True):
        assert problem.program is not None
        lines = readable_lines(problem.program)
        assert task["programs"][0]["lines"] == [[line.depth, line.text] for line in lines]
        for before, after, pair in zip(problem.inputs, problem.outputs, task["pairs"], strict=True):
            (run,) = pair["runs"]
            assert run["right"]
            assert replayed(pair, run, 0) == as_page(before)
            done = list(steps(problem.program, before))
            assert len(run["ticks"]) == 4 * len(done)
            for i, step in enumerate(done):
                assert replayed(pair, run, i + 1) == as_page(step.world)
                assert lines[run["ticks"][4 * i]].place == step.place
                looked_at += 1
            assert replayed(pair, run, len(done)) == as_page(after)
    assert looked_at > 1000


def example(row: int) -> dict[str, Any]:
    problem = list(problems().values())[row]
    assert problem.program is not None
    return {
        "program": "DEF run m( move m)",
        "inputs": problem.inputs.tobytes(),
        "outputs": problem.outputs.tobytes(),
    }


@pytest.mark.parametrize(
    ("program", "end", "word"),
    [
        ("DEF run m( REPEAT R=19 r( move r) m)", "crashed", "fails: a wall is in the way"),
        ("DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)", "stopped, out of ticks", ""),
        ("DEF run m( turnLeft m)", "ended in another world", ""),
    ],
)
def test_how_a_wrong_program_ends_is_told(program: str, end: str, word: str) -> None:
    task = pages.task("x", example(0), program, "baseline")
    assert [shown["title"] for shown in task["programs"]] == ["True program", "Written by baseline"]
    run = task["pairs"][0]["runs"][1]
    assert (run["end"], run["right"]) == (end, False)
    last = pages.WORDS[run["ticks"][-1]]
    done = list(steps(parse(program), problems()["beeperSquare"].inputs[0]))
    assert last == (word or ("has no tick left" if done[-1].status != Status.OK else ""))


def test_failures_become_tasks_by_model_and_test_set() -> None:
    failures = everything()[0]["failures"]
    again = {"failures": [*failures, failures[0] | {"model": "other"}]}
    sets = pages.failure_tasks([{"failures": failures}, again, {}])
    assert [group["name"] for group in sets] == [
        "baseline on karel/problems",
        "other on karel/problems",
    ]
    named = [list(problems())[row] for row in (0, 3)]
    assert [task["name"] for task in sets[0]["tasks"]] == named  # each once
    shown = [pages.problem_tasks()["tasks"][row]["pairs"] for row in (0, 3)]
    for task, pairs in zip(sets[0]["tasks"], shown, strict=True):
        assert [pair["before"] for pair in task["pairs"]] == [pair["before"] for pair in pairs]
    others = pages.failure_tasks([{"failures": [failures[0] | {"test": "karel/msr", "row": 2}]}])
    assert others[0]["tasks"][0]["name"] == "row 2"
    html = Parsed(reproduction_page(everything(), sets))
    assert "Step through 2 failures" in html.text


def test_tasks_stay_within_bounds() -> None:
    failures = [everything()[0]["failures"][0] | {"row": row} for row in range(10)]
    (group,) = pages.failure_tasks([{"failures": failures}], most_tasks=4)
    assert len(group["tasks"]) == 4
    room = len(json.dumps(group["tasks"][0])) + 10
    (group,) = pages.failure_tasks([{"failures": failures}], most_tasks=4, most_bytes=room)
    assert len(group["tasks"]) == 1


def test_a_row_that_is_not_there_is_refused() -> None:
    failure = everything()[0]["failures"][0] | {"row": 99}
    with pytest.raises(UnskewError, match="row 99 of karel/problems, which has 41 rows"):
        pages.failure_tasks([{"failures": [failure]}])


def test_held_out_pairs_are_marked() -> None:
    problem = problems()["beeperSquare"]
    six = {
        "program": "DEF run m( move m)",
        "inputs": problem.inputs[:1].tobytes() * 6,
        "outputs": problem.outputs[:1].tobytes() * 6,
    }
    notes = [pair["note"] for pair in pages.task("x", six)["pairs"]]
    assert notes == [""] * 5 + ["held out"]


def test_the_calculators_result_is_shown_like_the_others() -> None:
    raw = json.loads((ROOT / "results/calculator.json").read_text(encoding="utf-8"))
    page = Parsed(reproduction_page([calculator_result(raw)]))
    rows = page.tables["Improvement by homogenized variable at ε = 0.025"]
    by_name = {row[0]: row[1:] for row in rows}
    for column, name in (("length", "length"), ("max_depth", "max depth")):
        numbers = by_name[name]
        for i, source in enumerate(("t2t", "dcfg")):
            paper = raw["paper"]["by_variable"][source][column]
            ours = raw["ours"]["by_variable"][source][column]["mean"]
            assert numbers[4 * i] == f"{paper:.2f}"
            assert numbers[4 * i + 1] == f"{ours:.2f}".replace("-", "−")
            assert numbers[4 * i + 2] == signed(ours - paper, 2)
    costs = page.tables["Draws per kept example, DCFG"]
    point = next(p for p in raw["costs"] if p["source"] == "dcfg")
    assert any(f"{point['draws_per_kept']:.2f}" in row for row in costs)
    bound = costs.index(["bound 1 + 1/ε"])
    assert costs[bound + 1] == ["ε = 0.0125", "81.00", "–"]
    assert "100 of 100 run" in page.text  # nobody runs a bound


def test_the_whole_page_is_written(tmp_path: Path) -> None:
    raw = json.loads((ROOT / "results/calculator.json").read_text(encoding="utf-8"))
    path = write_page([*everything(), raw], tmp_path / "report.html", audited=500)
    html = path.read_text(encoding="utf-8")
    text = Parsed(html).text
    for part in ("karel/msr against karel/uniform", "homogenized by length", "Calculator"):
        assert part in text
    assert "by length at ε = 0.025, which does not make it uniform. KL that is left" in text
    assert "which does not make it uniform" not in text.partition("calculator/dcfg against")[0]
    assert len(html) - len(vega()) < 6_000_000


def test_rows_and_columns_that_were_not_run_are_named_once() -> None:
    """Of three rows and three columns all of row a, all of column z, and one more are missing."""
    ran = {("b", "x"), ("c", "x"), ("c", "y")}
    cells = [
        cell(row, column, 1.5, 20.5 if (row, column) in ran else None)
        for row in "abc"
        for column in "xyz"
    ]
    lines = list(sentences(result("x", "X", [table("T", list("abc"), list("xyz"), cells)])))
    assert lines[-1].endswith("Not run: 6 of 9 cells (a; z; b / y).")


def test_a_tables_note_is_shown_and_its_markup_is_not() -> None:
    one = table("T", ["a"], ["b"], [cell("a", "b", 1.5, 20.5)]) | {"note": "whole: <b>50</b>"}
    assert "whole: <b>50</b>" in shown(one).text


def test_the_hash_of_the_code_is_told_where_a_commit_is_not_known() -> None:
    known = PROVENANCE | {"commit": "0123456789" * 4}
    for commit, told in ((known["commit"], False), ("unknown", True), (None, True)):
        made = everything()
        for item in made:
            item["provenance"] = known
        made[1]["provenance"] = {**PROVENANCE, **({"commit": commit} if commit else {})}
        page = reproduction_page(made)
        assert "<dt>Commit</dt><dd>0123456789" in page
        assert ("<dt>Source</dt><dd>abc123</dd>" in page) == told
