"""The page of a reproduction as a person meets it: in a browser, by mouse, keys and on a phone.

The browser is a Chromium that is installed already; where there is none, these tests are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.reproduction_results import ATTACK, cell, everything, hostile, passes, result, table
from tests.waiting import HANG, until
from unskew.audits.audit import Audit
from unskew.audits.records import VariableAudit
from unskew.domains.karel.formats.problems import problems
from unskew.domains.karel.language.syntax import parse, readable_lines
from unskew.domains.karel.running.trace import steps
from unskew.domains.karel.world import WALL, World, from_picture, grid_of, hero_of
from unskew.experiments.page import tasks as pages
from unskew.experiments.page.page import reproduction_page

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PHONE = 360

# One example of two pairs: markers are picked and put, Karel turns, and the second world is not
# as the model thought.
TRUE = (
    "DEF run m( WHILE c( markersPresent c) w( pickMarker w) "
    "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e) putMarker putMarker m)"
)
WRITTEN = "DEF run m( pickMarker pickMarker move putMarker putMarker m)"
WORLDS = (
    """
    .  #  2  .
    .  .  .  .
    >2 .  9  #
    """,
    """
    #  1
    ^1 .
    """,
)


def written_task() -> dict[str, Any]:
    inputs = [from_picture(picture) for picture in WORLDS]
    outputs = [list(steps(parse(TRUE), world))[-1].world for world in inputs]
    example = {
        "program": TRUE,
        "inputs": b"".join(world.tobytes() for world in inputs),
        "outputs": b"".join(world.tobytes() for world in outputs),
    }
    return pages.task("row 17", example, WRITTEN, "baseline")


def comparison() -> Any:
    def side(label: str, counts: dict[Any, int]) -> Audit:
        return Audit(label, 10, 10, {"walls": VariableAudit("walls", counts, False, "doc")}, {})

    return side("karel/msr", {0: 9, 1: 1}).compare(side("karel/uniform", {0: 5, 1: 5}))


@dataclass
class Seen:
    """A page that was opened, what it said in the console, and what it asked for."""

    page: Page
    messages: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def tick(self) -> str:
        return self.page.inner_text("#tick-of")


def starts(path: str) -> bool:
    """Tell a browser from a stand-in that says where to get one."""
    done = subprocess.run([path, "--version"], capture_output=True, timeout=HANG)
    return done.returncode == 0 and b"Chrom" in done.stdout


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path_of_browser = next(
        (path for name in NAMES if (path := shutil.which(name)) and starts(path)), None
    )
    if path_of_browser is None:
        pytest.skip(f"no Chromium ({', '.join(NAMES)}): the page was not looked at in a browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path_of_browser, args=OPTIONS.split())
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    groups = [
        {"name": "baseline on a set", "words": pages.WORDS, "tasks": [written_task()] * 3},
        pages.problem_tasks(),
    ]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(reproduction_page(everything(), groups, [comparison()]), encoding="utf-8")
    return path


def opened(browser: Browser, path: Path, width: int = 1280, **more: Any) -> Seen:
    page = browser.new_page(viewport={"width": width, "height": 800}, **more)
    page.set_default_timeout(1000 * HANG)
    seen = Seen(page)
    page.on("console", lambda message: seen.messages.append(message.text))
    page.on("pageerror", lambda error: seen.messages.append(str(error)))
    page.on("request", lambda request: seen.asked.append(request.url))
    # What is not the page itself gets no answer; that it was asked for is on record.
    page.route(
        "**/*",
        lambda route: route.continue_() if route.request.url == path.as_uri() else route.abort(),
    )
    page.goto(path.as_uri())
    page.wait_for_function(
        "() => [...document.querySelectorAll('.chart')].every((one) => one.querySelector('svg'))"
    )
    return seen


@pytest.fixture
def seen(browser: Browser, report: Path) -> Iterator[Seen]:
    one = opened(browser, report)
    yield one
    one.page.close()
    assert one.messages == []
    assert one.asked == [report.as_uri()]


DRAWN = """(svg) => {
  const frame = svg.querySelector(".frame").getBoundingClientRect();
  const [rows, columns] = svg.getAttribute("aria-label").match(/\\d+/g).map(Number);
  const place = (element) => {
    const box = element.getBoundingClientRect();
    const x = (box.left + box.right) / 2 - frame.left, y = (box.top + box.bottom) / 2 - frame.top;
    return [rows - 1 - Math.floor(y / frame.height * rows), Math.floor(x / frame.width * columns)];
  };
  const karel = svg.querySelector(".karel");
  const turn = Number(karel.getAttribute("transform").match(/rotate\\((\\d+)/)[1]);
  const count = (text) => [...place(text), Number(text.textContent)];
  return {
    size: [rows, columns],
    karel: [...place(karel), turn / 90],
    walls: [...svg.querySelectorAll(".wall")].map(place),
    markers: [...svg.querySelectorAll(".count")].map(count),
  };
}"""


def drawn(page: Page) -> list[dict[str, Any]]:
    """Read the worlds off the screen, by where things are drawn."""
    return [world.evaluate(DRAWN) for world in page.query_selector_all(".worlds svg")]


def expected(world: World) -> dict[str, Any]:
    grid = grid_of(world)
    cells = [(r, c, int(grid[r, c])) for r in range(len(grid)) for c in range(grid.shape[1])]
    return {
        "size": list(grid.shape),
        "karel": list(hero_of(world)),
        "walls": [[r, c] for r, c, value in cells if value == WALL],
        "markers": [[r, c, value] for r, c, value in cells if 0 < value < WALL],
    }


def after(program: str, picture: str, ticks: int) -> World:
    world = from_picture(picture)
    worlds = [world, *(step.world for step in steps(parse(program), world))]
    return worlds[min(ticks, len(worlds) - 1)]


def test_the_page_is_quiet_loads_nothing_and_draws_its_charts(seen: Seen) -> None:
    charts = seen.page.query_selector_all(".chart svg")
    assert len(charts) == 4  # all numbers, lines, a heatmap, a histogram
    for chart in charts:
        box = chart.bounding_box()
        assert box is not None
        assert box["width"] > 200
        assert box["height"] > 100
    assert seen.page.inner_text("h1").endswith("reproduced")


def test_the_player_shows_the_worlds_that_the_interpreter_makes(seen: Seen) -> None:
    page = seen.page
    for pair, picture in enumerate(WORLDS):
        page.locator("#choose-pair input").nth(pair).check()
        total = max(
            len(list(steps(parse(program), from_picture(picture)))) for program in (TRUE, WRITTEN)
        )
        wanted = expected(after(TRUE, picture, total))
        for tick in range(total + 1):
            assert seen.tick() == f"{tick} of {total}"
            both = [expected(after(program, picture, tick)) for program in (TRUE, WRITTEN)]
            assert drawn(page) == [*both, wanted]
            if tick < total:
                page.click("#forward")
        assert page.is_disabled("#forward")
        for tick in range(total - 1, -1, -1):
            page.click("#back")
            assert drawn(page)[0] == expected(after(TRUE, picture, tick))
        assert page.is_disabled("#back")


def test_the_statement_that_runs_is_highlighted(seen: Seen) -> None:
    page = seen.page
    page.locator("#choose-pair input").nth(0).check()
    lines = readable_lines(parse(TRUE))
    for step in steps(parse(TRUE), from_picture(WORLDS[0])):
        page.click("#forward")
        current = page.locator(".programs figure").nth(0).locator("[aria-current=step]")
        assert current.inner_text() == next(ln.text for ln in lines if ln.place == step.place)
    assert "ended in the wanted world" in page.inner_text("#status")


def test_a_failing_pair_is_shown_first_and_what_failed_is_said(seen: Seen) -> None:
    page = seen.page
    assert page.locator("#choose-pair input").nth(1).is_checked()
    assert [label.strip() for label in page.locator("#choose-pair label").all_inner_texts()] == [
        "1 ✓",
        "2 ✗",
    ]
    page.click("#forward")
    page.click("#forward")
    status = page.inner_text("#status")
    assert "Written by baseline: pickMarker() fails: no marker is there" in status
    assert "crashed" in status
    assert page.get_attribute("#status", "aria-live") == "polite"


def test_what_is_not_as_wanted_is_framed_once_a_run_has_ended(seen: Seen) -> None:
    page = seen.page
    page.focus("#stage")
    wrong = page.locator(".worlds figure").nth(1).locator(".wrong")
    assert wrong.count() == 0
    page.keyboard.press("End")
    # Its markers are gone where they should lie, and it stands there facing another way.
    left, wanted = after(WRITTEN, WORLDS[1], 99), after(TRUE, WORLDS[1], 99)
    cells = (grid_of(left) != grid_of(wanted)).sum()
    poses = hero_of(left) != hero_of(wanted)
    assert poses
    here = grid_of(left)[hero_of(left)[:2]] != grid_of(wanted)[hero_of(left)[:2]]
    assert wrong.count() == cells + (not here)
    assert page.locator(".worlds figure").nth(0).locator(".wrong").count() == 0


def test_tasks_and_test_sets_can_be_browsed(seen: Seen) -> None:
    page = seen.page
    assert page.inner_text("#which-task") == "1 of 3: row 17"
    assert page.is_disabled("#previous-task")
    page.click("#next-task")
    page.click("#next-task")
    assert page.inner_text("#which-task") == "3 of 3: row 17"
    assert page.is_disabled("#next-task")
    page.click("#previous-task")
    assert page.inner_text("#which-task") == "2 of 3: row 17"
    page.select_option("#choose-set", index=1)
    first = next(iter(problems()))
    assert page.inner_text("#which-task") == f"1 of {len(problems())}: {first}"
    assert len(page.query_selector_all(".worlds svg")) == 2  # the program's, and the wanted one
    assert len(page.query_selector_all(".programs .program")) == 1


def test_a_link_to_failures_chooses_them(browser: Browser, tmp_path: Path) -> None:
    groups = [pages.problem_tasks(), *pages.failure_tasks(everything())]
    path = tmp_path / "linked.html"
    path.write_text(reproduction_page(everything(), groups), encoding="utf-8")
    page = opened(browser, path).page
    page.click("#next-task")
    link = page.get_by_text("Step through 2 failures")
    link.click()
    assert page.url.endswith("#runs")
    chosen = page.locator("#choose-set option:checked").inner_text()
    assert chosen == "baseline on karel/problems (2)"
    assert page.inner_text("#which-task").startswith("1 of 2")
    assert link.get_attribute("href") == "#runs"  # without a script, too
    page.close()


def test_the_player_plays_and_pauses(seen: Seen) -> None:
    page = seen.page
    page.select_option("#choose-set", index=1)
    page.select_option("#speed", "120")
    page.click("#play")
    assert page.inner_text("#play") == "Pause"
    assert page.get_attribute("#status", "aria-live") == "off"  # a voice cannot keep up
    page.wait_for_function("() => Number(document.getElementById('tick').value) >= 3")
    page.click("#play")
    stopped = seen.tick()
    # A longer timer of the page. Had the player's not been stopped, it would have come first.
    page.evaluate("() => new Promise((done) => setTimeout(done, 3 * 120))")
    assert seen.tick() == stopped
    page.click("#reset")
    assert seen.tick().startswith("0 of")
    page.click("#play")
    page.wait_for_function("() => document.getElementById('play').textContent === 'Play'")
    tick, _, total = seen.tick().partition(" of ")
    assert tick == total


def test_the_keyboard_does_everything(seen: Seen) -> None:
    page = seen.page
    page.select_option("#choose-set", index=1)
    page.focus("#stage")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert seen.tick().startswith("3 of")
    page.keyboard.press("ArrowLeft")
    assert seen.tick().startswith("2 of")
    page.keyboard.press("End")
    tick, _, total = seen.tick().partition(" of ")
    assert tick == total
    page.keyboard.press("Home")
    assert seen.tick().startswith("0 of")
    page.select_option("#speed", "120")
    page.focus("#stage")
    page.keyboard.press("Space")
    page.wait_for_function("() => Number(document.getElementById('tick').value) >= 2")
    page.keyboard.press("Space")
    assert page.inner_text("#play") == "Play"
    page.focus("#tick")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert seen.tick().startswith("1 of")
    page.focus("#forward")
    page.keyboard.press("Space")  # on a button, space presses it
    assert seen.tick().startswith("2 of")
    page.select_option("#choose-set", index=0)
    page.focus("#choose-pair input:checked")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#choose-pair input").nth(0).is_checked()
    assert seen.tick().startswith("0 of")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_a_button_that_has_nothing_to_do_keeps_the_focus(seen: Seen) -> None:
    """At the first and the last tick and task; the keys go on, and pressing it does nothing."""
    page = seen.page
    for key, button, back in (("End", "forward", "ArrowLeft"), ("Home", "back", "ArrowRight")):
        page.focus("#stage")
        page.keyboard.press(key)
        page.keyboard.press(back)  # one tick from the end
        page.focus(f"#{button}")
        page.keyboard.press("Enter")
        ended = seen.tick()
        assert page.get_attribute(f"#{button}", "aria-disabled") == "true"
        page.keyboard.press("Enter")
        assert (focused(page), seen.tick()) == (button, ended)
        page.keyboard.press(back)
        assert (focused(page), seen.tick() == ended) == (button, False)
    page.focus("#reset")
    page.keyboard.press("Enter")
    assert (focused(page), seen.tick().partition(" ")[0]) == ("reset", "0")
    for button, task in (("next-task", "3 of 3"), ("previous-task", "1 of 3")):
        page.focus(f"#{button}")
        for _ in range(4):
            page.keyboard.press("Enter")
        assert focused(page) == button
        assert page.inner_text("#which-task").startswith(task)
        page.keyboard.press("ArrowRight")
        assert seen.tick().startswith("1 of")
    assert page.evaluate("document.querySelectorAll('button:disabled').length") == 0


def test_every_control_is_reached_by_tab_and_seen_to_be(seen: Seen) -> None:
    page = seen.page
    page.click("#forward")
    page.focus("#choose-set")
    reached = []
    for _ in range(11):
        reached.append(
            page.evaluate(
                """() => {
                  const at = document.activeElement;
                  const shown = at.matches("input[type=radio]") ? at.nextElementSibling : at;
                  return [at.id || at.name, parseFloat(getComputedStyle(shown).outlineWidth) >= 2];
                }"""
            )
        )
        page.keyboard.press("Tab")
    names = [name for name, _ in reached]
    tasks, ticks = ["previous-task", "next-task"], ["reset", "back", "play", "forward", "tick"]
    assert names == ["choose-set", *tasks, "pair", *ticks, "speed", "stage"]
    assert all(outlined for _, outlined in reached)


OVERFLOW = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize("width", [PHONE, 768, 1280])
def test_nothing_is_wider_than_the_screen(browser: Browser, report: Path, width: int) -> None:
    seen = opened(browser, report, width)
    page = seen.page
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert page.evaluate("innerWidth") == width
    assert not page.evaluate(OVERFLOW)
    for chart in page.query_selector_all(".chart:not(.scroll .chart) svg"):
        box = chart.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
        for legend in chart.query_selector_all(".role-legend"):
            part = legend.bounding_box()
            assert part is not None
            assert part["x"] + part["width"] <= box["x"] + box["width"]
    boxes = page.query_selector_all(".scroll")
    scrolls = [box.evaluate("(one) => one.scrollWidth > one.clientWidth") for box in boxes]
    assert any(scrolls)  # what was trained, in all its columns
    until(lambda: [box.evaluate("(one) => one.tabIndex === 0") for box in boxes] == scrolls)
    page.close()


def test_ours_the_papers_and_the_difference_are_seen_at_once_on_a_phone(seen: Seen) -> None:
    page = seen.page
    page.set_viewport_size({"width": PHONE, "height": 800})
    heads = page.locator("#experiment-0 .results").first.locator("thead th.number")
    assert heads.all_inner_texts()[:3] == ["paper", "ours", "difference"]
    box = heads.nth(2).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= PHONE - 48  # where the box fades


@pytest.mark.parametrize(("width", "across"), [(PHONE, 1), (768, 2), (1280, 3)])
def test_panels_of_a_figure_wrap_and_share_a_legend(
    browser: Browser, tmp_path: Path, width: int, across: int
) -> None:
    path = tmp_path / "panels.html"
    path.write_text(reproduction_page([passes()]), encoding="utf-8")
    page = opened(browser, path, width).page
    assert not page.evaluate(OVERFLOW)
    boxes = [panel.bounding_box() for panel in page.locator(".panels svg").all()]
    assert len({box["x"] for box in boxes if box}) == across
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        until(lambda: panels_have_the_colours_of_the_legend(page))  # after its transition
    page.close()


def panels_have_the_colours_of_the_legend(page: Page) -> bool:
    keys = page.locator(".legend span").all()
    colours = [key.evaluate("(one) => getComputedStyle(one).backgroundColor") for key in keys]
    for panel, lines in zip(page.locator(".panels svg").all(), (2, 2, 1), strict=True):
        drawn = panel.locator(".mark-line path").all()
        strokes = [line.evaluate("(one) => getComputedStyle(one).stroke") for line in drawn]
        if strokes != colours[-lines:]:
            return False
    return True


def heatmap_page(path: Path, models: int, sets: int) -> Path:
    """Write a page with a heatmap of so many models on so many test sets."""
    rows = [f"a model of a long name {i}" for i in range(models)]
    columns = [f"narrow-0.05-0.85-{i}" for i in range(sets)]
    cells = [cell(row, name, None, 5.0 * i) for row in rows for i, name in enumerate(columns)]
    one = table("Wide", rows, columns, cells, form="heatmap")
    path.write_text(reproduction_page([result("x", "X", [one])]), encoding="utf-8")
    return path


def test_a_heatmap_of_few_models_on_many_sets_is_wholly_seen(
    browser: Browser, tmp_path: Path
) -> None:
    page = opened(browser, heatmap_page(tmp_path / "few.html", 4, 20)).page
    assert page.locator(".scroll").first.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert page.locator(".scroll .role-mark.mark-rect path").count() == 80
    page.close()


def test_a_box_that_scrolls_fades_where_there_is_more(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, heatmap_page(tmp_path / "faded.html", 4, 20), PHONE).page
    box = page.locator(".scroll").first
    fades = "(one) => getComputedStyle(one).maskImage !== 'none'"
    page.wait_for_function(f"() => ({fades})(document.querySelector('.scroll'))")
    box.evaluate("(one) => { one.scrollLeft = one.scrollWidth; }")
    page.wait_for_function(f"() => !({fades})(document.querySelector('.scroll'))")
    box.evaluate("(one) => { one.scrollLeft = 0; }")
    page.wait_for_function(f"() => ({fades})(document.querySelector('.scroll'))")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(f"() => !({fades})(document.querySelector('.scroll'))")
    page.close()


@pytest.mark.parametrize("form", ["table", "heatmap", "lines"])
def test_a_note_is_above_what_it_is_about_and_no_wider_than_a_phone(
    browser: Browser, tmp_path: Path, form: str
) -> None:
    cells = [cell("baseline", name, 20.0, 30.0) for name in "abc"]
    note = "whole: " + "x" * 200 + " over 1,116,854 examples."
    one = table("Noted", ["baseline"], list("abc"), cells, form=form, note=note)
    path = tmp_path / "note.html"
    path.write_text(reproduction_page([result("x", "X", [one])]), encoding="utf-8")
    page = opened(browser, path, PHONE).page
    assert not page.evaluate(OVERFLOW)
    box = page.get_by_text("over 1,116,854 examples").bounding_box()
    below = page.locator("#experiment-0").locator("table:visible, .chart").first.bounding_box()
    assert box is not None
    assert below is not None
    assert box["y"] + box["height"] <= below["y"]
    assert box["x"] + box["width"] <= PHONE
    page.close()


def test_the_legend_of_a_wide_heatmap_is_seen_without_scrolling(
    browser: Browser, tmp_path: Path
) -> None:
    path = heatmap_page(tmp_path / "wide.html", 18, 18)
    for width in (1280, PHONE):
        page = opened(browser, path, width).page
        outer = page.locator(".scroll").first.bounding_box()
        legend = page.locator(".scroll .role-legend").first.bounding_box()
        assert outer is not None
        assert legend is not None
        assert page.locator(".scroll").first.evaluate("(one) => one.scrollWidth > one.clientWidth")
        assert outer["x"] <= legend["x"]
        assert legend["x"] + legend["width"] <= outer["x"] + outer["width"]
        page.close()


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => colour.slice(0, 3)
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    // On cells, markers and bars the ground is another drawing: those are looked at elsewhere.
    const left = element.closest(".mark-text, .worlds svg, script, style");
    if (!text || left || !element.checkVisibility()) continue;
    const look = getComputedStyle(element);
    const ink = rgb(element.closest("svg") ? look.fill : look.color);
    let ground = element;
    const filled = () => rgb(getComputedStyle(ground).backgroundColor);
    while (ground !== document.body && filled()[3] === 0) ground = ground.parentElement;
    const pair = [ink, filled()];
    const [low, high] = pair.map(luminance).sort((a, b) => a - b);
    found.push([text.slice(0, 40), (high + 0.05) / (low + 0.05)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_in_dark(browser: Browser, report: Path, scheme: str) -> None:
    seen = opened(browser, report, color_scheme=scheme)
    page = seen.page
    page.click("#forward")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [(text, ratio) for text, ratio in contrasts if ratio < 4.5] == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    page.close()


def test_charts_and_page_follow_a_change_to_dark(seen: Seen) -> None:
    page = seen.page
    label = ".chart .role-axis-label text"
    colour = f"getComputedStyle(document.querySelector('{label}')).fill"
    before = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => document.querySelector('{label}') && {colour} !== '{before}'")


def test_less_motion_is_respected(browser: Browser, report: Path) -> None:
    calm = opened(browser, report, reduced_motion="reduce").page
    assert calm.input_value("#speed") == "1000"
    assert calm.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    calm.close()
    lively = opened(browser, report, reduced_motion="no-preference").page
    assert lively.input_value("#speed") == "400"
    assert lively.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "smooth"
    lively.close()


def test_planted_markup_does_not_run(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    groups = pages.failure_tasks(hostile())
    groups[0]["tasks"][0]["name"] = ATTACK
    path.write_text(reproduction_page(hostile(), groups, [comparison()]), encoding="utf-8")
    seen = opened(browser, path)
    page = seen.page
    assert page.inner_text("#which-task") == f"1 of 2: {ATTACK}"
    assert page.inner_text(".programs .unread") == ATTACK
    assert "is not a valid program" in page.inner_text("#status")
    page.click("#forward")
    page.click("#next-task")
    page.click("#forward")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.locator(".chart .mark-rect path").first.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert ATTACK in page.inner_text("#vg-tooltip-element")
    assert page.evaluate("window.pwned") is None
    assert page.query_selector("img") is None
    assert page.locator("script").count() == 4
    assert seen.messages == []
    assert seen.asked == [path.as_uri()]
    page.close()
