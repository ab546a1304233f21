"""An audit in a notebook, in the browser, and as a DataFrame."""

from __future__ import annotations

import re
import shutil
import stat
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas
import polars
import pytest
from playwright.sync_api import Page, sync_playwright

import unskew
from tests.commands import complaints, python
from unskew import Audit, Comparison, VariableAudit
from unskew.audits.report.notebook import MOST_VARIABLES
from unskew.core.errors import UnskewError

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>"
ROWS = [
    {
        "answer": ["yes", "yes", "yes", "no", None][i % 5],
        "level": i % 9,
        "score": i * i / 7,
        "ok": True,
    }
    for i in range(1000)
]
AUDIT = unskew.audit(ROWS)
BOTH = AUDIT.compare(unskew.audit(ROWS[:500], like=AUDIT))
HOSTILE = Audit(
    ATTACK,
    55,
    50,
    {ATTACK: VariableAudit(ATTACK, {ATTACK: 30, "[red]": 20, "\x1b[31m'\"": 5}, False, ATTACK)},
    {ATTACK: 1},
    {ATTACK: ATTACK},
)
RESULTS = pytest.mark.parametrize(
    "result",
    [AUDIT, BOTH, HOSTILE, HOSTILE.compare(HOSTILE)],
    ids=["audit", "comparison", "hostile", "hostile comparison"],
)


class Elements(HTMLParser):
    """The names of all elements, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@RESULTS
def test_a_notebook_runs_and_loads_nothing(result: Audit | Comparison) -> None:
    html = result._repr_html_()
    elements = Elements(html)
    assert set(elements.names) <= {
        *("div", "style", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "span"),
        *("svg", "g", "title", "rect", "line"),
    }
    assert not {name for name in elements.attributes if name.startswith("on")}
    assert not {"src", "href", "style"} & elements.attributes
    assert not re.search(r"url\(|@import|https?:", html)


def test_what_comes_from_data_is_text() -> None:
    elements = Elements(HOSTILE._repr_html_())
    assert sum(ATTACK[:20] in text for text in elements.text) >= 4


@RESULTS
def test_the_terminal_the_page_and_the_notebook_say_the_same(result, tmp_path) -> None:
    page = result.picture(tmp_path / "x.html").read_text(encoding="utf-8")
    pages = [Elements(page.partition("<script")[0]).text, Elements(result._repr_html_()).text]
    printed = " ".join(str(result).split())
    for name, sides in result.variables.items():
        doc = (sides[0] if isinstance(sides, tuple) else sides).doc
        for texts in pages:
            assert any(name in text for text in texts)
            assert doc in texts
        assert f"({doc})" in printed


@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_says_how_each_variable_was_measured(width: int, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = str(AUDIT).splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    score = AUDIT.variables["score"].doc
    assert f" measured: answer, level, ok (by value); score ({score}) to balance " in text
    unknown = unskew.audit([1, 2], by={"x": abs})
    assert "measured" not in str(unknown)


def test_variables_that_were_measured_in_two_ways_say_both() -> None:
    before, after = (
        Audit("x", 2, 2, {"x": VariableAudit("x", {1: 2}, False, doc)}, {}) for doc in ("a", "b")
    )
    assert "measured: x (a before, b after)" in str(before.compare(after))


def test_ten_variables_take_little_room() -> None:
    worst = {
        f"{i}'" * 30: VariableAudit(
            f"{i}'" * 30, {f"{j}{'<' * 40}": j + 1 for j in range(99)}, False
        )
        for i in range(10)
    }
    result = Audit("x", 4950, 1, worst, {})
    rows = [{f"column {i}": (i * j) % 30 for i in range(10)} for j in range(2000)]
    usual = unskew.audit(rows)
    assert len(usual._repr_html_()) < 30_000
    assert len(usual.compare(usual)._repr_html_()) < 60_000
    assert len(result._repr_html_()) < 120_000


def test_very_many_variables_are_cut_and_it_is_said() -> None:
    one = {f"v{i}": VariableAudit(f"v{i}", {1: 1}, False) for i in range(MOST_VARIABLES + 7)}
    html = Audit("x", 1, 1, one, {})._repr_html_()
    assert f">v{MOST_VARIABLES - 1}<" in html.replace("\n", "")
    assert f">v{MOST_VARIABLES}<" not in html.replace("\n", "")
    assert "7 more variables" in html


@pytest.fixture(scope="module")
def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def shown(page: Page, html: str, colours: str) -> None:
    page.set_content(f'<body style="{colours}"><div>{html}</div></body>')


@pytest.mark.parametrize("colours", ["color:#111;background:#fff", "color:#ddd;background:#111"])
def test_a_notebook_can_be_read_in_light_and_dark(browser, colours: str) -> None:
    page = browser.new_page()
    shown(page, BOTH._repr_html_(), colours)
    wanted = page.evaluate("getComputedStyle(document.body).color")
    for cell in page.locator(".unskew td, .unskew th, .unskew p").all():
        assert cell.evaluate("e => getComputedStyle(e).color") == wanted
        assert "rgba(0, 0, 0, 0)" in cell.evaluate("e => getComputedStyle(e).background")
    bars = page.locator("svg rect:not(.all)").all()
    assert len(bars) == sum(2 * len(before.counts) for before, _ in BOTH.variables.values())
    heights = [bar.bounding_box()["height"] for bar in bars[:3]]  # of answer: no, yes, None
    assert heights[1] == pytest.approx(3 * heights[0], rel=0.05)
    page.close()


def test_nothing_in_data_is_run_in_a_browser(browser) -> None:
    page = browser.new_page()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    shown(page, HOSTILE._repr_html_(), "")
    page.evaluate("new Promise(done => requestAnimationFrame(done))")
    assert page.locator("img, script").count() == 0
    assert dialogs == []
    page.close()


OPEN = """
import unskew
print(unskew.audit([1, 1, 2], by={"x": abs}).open())
"""


def test_open_shows_the_page_in_the_users_browser(tmp_path) -> None:
    script = tmp_path / "browser.py"
    script.write_text("import pathlib, sys\npathlib.Path(sys.argv[1]).write_text(sys.argv[2])\n")
    seen = tmp_path / "seen"
    environment = {"BROWSER": f"{sys.executable} {script} {seen} %s", "TMPDIR": str(tmp_path)}
    result = python(OPEN, env=environment | {"PYTHONPATH": ":".join(filter(None, sys.path))})
    assert complaints(result.stderr) == ""
    path = Path(result.stdout.strip())
    assert seen.read_text() == path.as_uri()
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert path.parent == tmp_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="macOS and Windows always have one")
def test_open_without_a_browser_is_one_line_with_the_path(tmp_path) -> None:
    environment = {
        "PATH": "",
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": ":".join(filter(None, sys.path)),
    }
    result = python(OPEN, env=environment)
    last = result.stderr.splitlines()[-1]
    assert "there is no browser to open; the page is " in last
    assert Path(last.rpartition(" ")[2]).is_file()


def test_a_dataframe_has_a_row_for_each_value() -> None:
    small = unskew.audit([(1, "a"), (1, "b"), (2, "b"), (None, "b")], by={"x": lambda e: e[0]})
    wanted = {
        "variable": ["x", "x", "x"],
        "value": [1, 2, None],
        "count": [2, 1, 1],
        "share": [0.5, 0.25, 0.25],
    }
    assert small.to_pandas().to_dict("list") == wanted
    assert small.to_polars().to_dict(as_series=False) == wanted
    assert small.to_polars().schema["value"] == polars.Int64


def test_values_of_several_kinds_stay_in_pandas_and_are_texts_in_polars() -> None:
    mixed = unskew.audit(
        [1, 2, "a", (1, 2), None, 2.5], by={"x": lambda e: e, "big": lambda _: 2**70}
    )
    values = [value for variable in mixed.variables.values() for value in variable.counts]
    assert mixed.to_pandas()["value"].tolist() == values
    texts = [None if value is None else str(value) for value in values]
    assert mixed.to_polars()["value"].to_list() == texts
    big = unskew.audit([1], by={"big": lambda _: 2**70})
    assert big.to_polars()["value"].to_list() == [str(2**70)]


def test_a_comparison_has_the_rows_of_both_sides() -> None:
    frame = BOTH.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["side", "variable", "value", "count", "share"]
    assert BOTH.to_polars().rows() == [
        (side, name, None if value is None else str(value), count, count / variable.n)
        for name, sides in BOTH.variables.items()
        for side, variable in zip(("before", "after"), sides, strict=True)
        for value, count in variable.counts.items()
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named_in_one_line(library, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UnskewError, match=f"install it with: pip install {library}") as caught:
        getattr(AUDIT, f"to_{library}")()
    assert "\n" not in str(caught.value)


def test_no_library_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, unskew; a = unskew.audit([1], by={'x': abs}); a._repr_html_(); a.breaches();"
        "print([m for m in ('pandas', 'polars', 'webbrowser', 'vl_convert') if m in sys.modules])"
    )
    result = python(code, env={"PYTHONPATH": ":".join(filter(None, sys.path))})
    assert result.stdout.strip() == "[]", result.stderr
