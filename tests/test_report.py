"""Tables in a terminal, pictures and pages: right numbers, and nothing from data is believed."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from jinja2 import UndefinedError
from rich.console import Console

from unskew import audit as measure
from unskew.audits.audit import Audit, Comparison
from unskew.audits.records import VariableAudit
from unskew.audits.report.charts import (
    MOST_BARS,
    comparison_chart,
    histogram_chart,
    page_of_charts,
)
from unskew.audits.report.page import script_in_script, vega
from unskew.audits.report.pooling import pooled, sparks
from unskew.audits.report.templates import environment, markdown
from unskew.audits.report.words import missing, number, percent, removed, shown
from unskew.core.domain import Domain, Views
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe

ATTACK = "<script>alert(1)</script>"


def page(result: Audit | Comparison) -> str:
    with TemporaryDirectory() as folder:
        return result.picture(Path(folder) / "x.html").read_text(encoding="utf-8")


def variable(name: str, counts: dict, declared: bool = False, doc: str = "") -> VariableAudit:
    return VariableAudit(name, counts, declared, doc)


def audit(*variables: VariableAudit, label: str = "data", **more: object) -> Audit:
    n = variables[0].n
    by_name = {v.name: v for v in variables}
    return Audit(label, n, n - 10, by_name, more.get("dropped", {}))  # type: ignore[arg-type]


BEFORE = audit(
    variable("length", {2: 600, 4: 160, 6: 120, 8: 120}, True, "characters"),
    variable("depth", {0: 900, 1: 100}),
    label="calculator/dcfg",
    dropped={"too long": 37},
)
AFTER = audit(
    variable("length", {2: 280, 4: 240, 6: 240, 8: 240}, True, "characters"),
    variable("depth", {0: 600, 1: 400}),
    label="repaired",
)
BOTH = BEFORE.compare(AFTER)
HOSTILE = audit(
    variable(f"name {ATTACK}", {ATTACK: 30, "[red]x": 20, "\x1b[31m": 5}, doc=ATTACK),
    label=f"[bold]{ATTACK}",
    dropped={ATTACK: 1},
)


def rendered(result: Audit | Comparison, width: int) -> str:
    console = Console(width=width, file=StringIO(), color_system=None)
    console.print(result)
    return console.file.getvalue()  # type: ignore[attr-defined]


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_an_audit_in_a_terminal_has_the_numbers(width: int) -> None:
    text = rendered(BEFORE, width)
    assert max(map(len, text.splitlines())) <= width
    assert "1,000 examples, 10 duplicates (1 %)" in flat(text)
    assert "37 (too long)" in flat(text)
    for v in BEFORE.variables.values():
        (row,) = [line for line in text.splitlines() if line.startswith(v.name)]
        assert f"{v.kl:.3f}" in row
        assert f"{v.total_variation:.3f}" in row


def test_a_wide_terminal_has_every_column() -> None:
    row = next(line for line in rendered(BEFORE, 120).splitlines() if line.startswith("length"))
    assert "4 of 4" in row
    assert "2 60 %, 4 16 %, 6 12 %" in row
    assert "none" in row
    assert f"{BEFORE.variables['length'].entropy:.3f}" in row
    assert "█▃▂▂" in row


def test_a_narrow_terminal_says_which_columns_are_gone() -> None:
    assert "a wider terminal adds: " in rendered(BEFORE, 40)
    assert "a wider terminal adds" not in rendered(BEFORE, 120)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_comparison_in_a_terminal_has_the_numbers_and_what_is_left(width: int) -> None:
    text = rendered(BOTH, width)
    assert max(map(len, text.splitlines())) <= width
    table = text.partition("KL that is left")[0]
    for name, (before, after) in BOTH.variables.items():
        (row,) = [line for line in table.splitlines() if line.startswith(f"{name} ")]
        assert f"{number(before.kl)} → {number(after.kl)}" in row
        assert f"{BOTH.kl_removed(name):.1f} %" in row
        assert f"{name} {number(after.kl)}" in flat(text)
    assert "KL that is left, in nats" in flat(text)


def test_homogenizing_is_said_of_data_whose_recipe_homogenizes() -> None:
    by = Recipe("calculator/dcfg", 10, homogenize=("length", "max_depth"), epsilon=0.1)
    told = "After: homogenized by length × max_depth at ε = 0.1, which does not make it uniform."
    for recipe, is_told in ((by, True), (Recipe("calculator/dcfg", 10), False), (None, False)):
        result = BEFORE.compare(replace(AFTER, recipe=recipe))
        for text in (flat(rendered(result, 80)), page(result).partition("<script")[0]):
            assert (told in text) == is_told
            assert ("omogenized" in text.replace("Homogenize<", "")) == is_told
    exact = BEFORE.compare(replace(AFTER, recipe=replace(by, epsilon=0.0)))
    assert "at ε = 0. KL that is left" in flat(rendered(exact, 80))


def test_closer_by_one_measure_and_further_by_the_other_is_not_closer() -> None:
    """Many values that are rare count for KL little and for TV much, or the other way round."""
    before = variable("x", {0: 700, 1: 300, 2: 0, 3: 0})
    after = variable("x", {0: 830, 1: 57, 2: 57, 3: 56})
    assert after.kl < before.kl
    assert after.total_variation > before.total_variation
    result = audit(before).compare(audit(after))
    told = "Closer by one measure, further by the other: x (KL 0.775 → 0.744, TV 0.500 → 0.580)."
    assert "0 of 1 variable came closer to uniform." in page(result)
    for text in (flat(rendered(result, 40)), page(result).partition("<script")[0]):
        assert told in text
    assert "Closer by one measure" not in page(BOTH)


def test_a_variable_of_one_side_is_named() -> None:
    one = audit(*AFTER.variables.values(), variable("extra", {1: 1000}))
    assert "only one side has it: extra" in flat(rendered(BEFORE.compare(one), 80))
    assert "only one side" not in rendered(BOTH, 80)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_markup_and_control_codes_are_printed_literally(width: int) -> None:
    text = rendered(HOSTILE, width) + rendered(HOSTILE.compare(HOSTILE), width)
    assert "[bold]<script>" in text
    assert "\x1b" not in text
    assert r"[red]x 36.4 %, '\x1b[31m' 9.09 %" in rendered(HOSTILE, 160)


def test_a_variable_with_one_value_is_uniform() -> None:
    one = variable("only", {7: 50}, declared=True)
    assert one.kl == 0
    row = next(line for line in rendered(audit(one), 120).splitlines() if line.startswith("only"))
    assert row.split()[:6] == ["only", "1", "of", "1", "0", "0"]
    assert removed(one, one) == "–"
    assert "nan" not in page(audit(one).compare(audit(one))).partition("<script")[0]
    assert histogram_chart(one)["data"]["values"][0]["share"] == 1


def test_missing_values() -> None:
    assert missing(variable("x", {"a": 1, "b": 1}, declared=True)) == "none"
    assert missing(variable("x", {"a": 1, "b": 1})) == "–"
    assert missing(variable("x", {1: 50, 2: 50, 4: 50})) == "3"
    assert missing(variable("x", {i: i // 9 for i in range(10)}, declared=True)) == "0, 1, 2 +6"


def test_numbers_are_exact_where_they_look_exact() -> None:
    assert [number(0), number(1e-9), number(1.8714)] == ["0", "<0.001", "1.871"]
    assert [percent(0), percent(1e-6), percent(0.16)] == ["0 %", "<0.01 %", "16 %"]
    assert [percent(0.99999), percent(1)] == [">99.9 %", "100 %"]
    worse = removed(AFTER.variables["length"], BEFORE.variables["length"])
    assert worse == "–"  # nothing was removed: it rose
    almost = variable("x", {i: 10**6 + 1000 * i for i in range(4)})
    assert removed(variable("x", {0: 9, 1: 1, 2: 1, 3: 1}), almost) == ">99.9 %"


def test_values_are_shown_on_one_line() -> None:
    assert shown(0.1) == "0.1"
    assert shown(1 / 3, 40) == repr(1 / 3)
    assert shown(math.nan) == "nan"
    assert shown("") == "''"
    assert shown("a\nb") == r"'a\nb'"
    assert len(shown("x" * 99)) == 24


def test_sparks_share_a_scale_and_show_values_that_nobody_has() -> None:
    high, low = sparks([variable("x", {0: 8, 1: 0}), variable("x", {0: 4, 1: 4})], 16)
    assert (high, low) == ("█.", "▄▄")
    (pool,) = sparks([variable("x", dict.fromkeys(range(100), 1))], 16)
    assert pool == "█" * 16


@pytest.mark.parametrize("size", [1, 59, 60, 61, 437])
def test_pooling_conserves_the_total(size: int) -> None:
    long = variable("x", {i: i * i % 101 + 1 for i in range(size)})
    rows = histogram_chart(long)["data"]["values"]
    assert len(rows) == min(size, MOST_BARS)
    assert sum(row["count"] for row in rows) == long.n
    assert sum(row["values"] for row in rows) == size
    assert math.isclose(sum(row["share"] for row in rows), 1)
    subtitle = " ".join(histogram_chart(long)["title"]["subtitle"])
    assert ("neighbours pooled into 60 bars" in subtitle) == (size > MOST_BARS)


def test_values_that_look_alike_stay_apart() -> None:
    assert [bar.label for bar in pooled(variable("x", {1: 1, "1": 2}), 60)] == ["1", "1 (2)"]


def test_labels_never_collide_after_numbering() -> None:
    # "1 (2)" is itself a value, and 1 and "1" look alike: three bars, three labels.
    bars = pooled(variable("x", {"1 (2)": 1, 1: 2, "1": 3}), 60)
    assert len({bar.label for bar in bars}) == 3


def test_a_comparison_chart_holds_the_shares_of_both_audits() -> None:
    before, after = BOTH.variables["length"]
    spec = comparison_chart(before, after, ("old", "new"))
    rows = spec["data"]["values"]
    for side, v in (("old", before), ("new", after)):
        by_name = {row["value"]: row["share"] for row in rows if row["side"] == side}
        assert by_name == {str(value): count / v.n for value, count in v.counts.items()}
    bars, rule, _ = spec["layer"]
    assert bars["encoding"]["x"]["sort"] is None
    assert bars["encoding"]["xOffset"]["field"] == "side"
    assert rule["encoding"]["y"]["datum"] == 1 / 4
    assert spec["title"]["text"] == "length"
    assert "characters" in spec["title"]["subtitle"]
    assert f"{BOTH.kl_removed('length'):.1f} % removed" in spec["title"]["subtitle"][1]


def test_sides_with_one_label_stay_two_sides() -> None:
    rows = comparison_chart(*BOTH.variables["length"], ("x", "x"))["data"]["values"]
    assert {row["side"] for row in rows} == {"x (before)", "x (after)"}


def test_charts_side_by_side() -> None:
    specs = [histogram_chart(v) for v in BEFORE.variables.values()]
    together = page_of_charts(specs, columns=1)
    assert together["concat"] == specs
    assert together["columns"] == 1
    assert json.loads(json.dumps(together)) == together


@pytest.mark.parametrize("result", [BEFORE, BOTH, HOSTILE], ids=["audit", "comparison", "hostile"])
def test_pictures_are_written(tmp_path: Path, result: Audit | Comparison) -> None:
    png = result.picture(tmp_path / "new" / "x.png")
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    svg = result.picture(str(tmp_path / "x.SVG"))
    root = ET.fromstring(svg.read_text(encoding="utf-8"))  # noqa: S314 - our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not root.findall(".//{*}script")
    html = result.picture(tmp_path / "x.html")
    assert html.read_text(encoding="utf-8") == page(result)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "x.SVG", "x.html"]


@pytest.mark.parametrize("name", ["x.gif", "x"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnskewError, match=r"allowed are \.png, \.svg, \.html: rename") as caught:
        BEFORE.picture(tmp_path / name)
    assert repr(Path(name).suffix) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


class Elements(HTMLParser):
    """Every element with its attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.found)


def without_bundle(html: str) -> str:
    assert html.count(vega()) == 1
    return html.replace(vega(), "")


@pytest.mark.parametrize("result", [BEFORE, BOTH, HOSTILE], ids=["audit", "comparison", "hostile"])
def test_a_page_loads_nothing(result: Audit | Comparison) -> None:
    html = page(result)
    own = without_bundle(html)
    assert "//" not in re.sub(r"^\s*//.*|\s// .*", "", own, flags=re.MULTILINE)
    assert not re.search(r"url\(|@import", own)
    for _, attributes in Elements(html).found:
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert "default-src 'none'" in own


def test_a_page_believes_nothing_in_the_data() -> None:
    for result in (HOSTILE, HOSTILE.compare(HOSTILE)):
        own = without_bundle(page(result))
        assert ATTACK not in own
        assert "<script>alert" not in own
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in own
        assert r"\u003cscript\u003ealert(1)\u003c/script\u003e" in own
        assert Elements(page(result)).count("script") == 3
        data = json.loads(own.partition('id="charts">')[2].partition("</script>")[0])
        values = [row["value"] for row in data["specs"][0]["data"]["values"]]
        assert any(value.startswith("<script>") for value in values)


def test_a_page_has_every_part() -> None:
    html = page(BOTH)
    elements = Elements(html)
    assert "<title>unskew</title>" in html
    assert elements.count("section") == 2 + len(BOTH.variables)
    assert elements.count("details") == 1 + len(BOTH.variables)
    text = " ".join(elements.text)
    assert "2 of 2 variables came closer to uniform. depth improved most" in text
    for name, (before, after) in BOTH.variables.items():
        assert f"{number(before.kl)} → {number(after.kl)}" in text
        assert f"{BOTH.kl_removed(name):.1f} %" in text
    assert {"600", "60 %", "280", "28 %"} <= set(elements.text)


def test_a_page_of_an_audit_and_one_of_no_improvement() -> None:
    assert "<h1>Audit of calculator/dcfg</h1>" in page(BEFORE)
    worse = page(AFTER.compare(BEFORE))
    assert "0 of 2 variables came closer to uniform." in worse
    assert "Further from uniform than before: length, depth." in worse


def test_what_is_printed_alike_has_not_changed() -> None:
    """6,000 and 6,001 of 10,000: the KL goes from 0.0201 to 0.0202, both written 0.020."""
    one, other = (
        audit(variable("depth", {0: zeros, 1: 10_000 - zeros}), label="d")
        for zeros in (6_000, 6_001)
    )
    assert one.variables["depth"].kl != other.variables["depth"].kl
    html = page(one.compare(other))
    assert "0 of 1 variable came closer" in html
    assert "Further from uniform" not in html


def drawn(example: object) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg"><title>{example}</title></svg>'


def with_samples(result: Audit, *samples: object, domain: Domain | None = None) -> Audit:
    return replace(result, samples=samples, domain=domain)


def some_domain(**more: Any) -> Domain:
    return Domain("x", "", {}, {}, lambda example: f"shown {example}", lambda _: True, **more)  # type: ignore[arg-type,return-value]


def test_a_page_shows_examples_as_their_domain_does() -> None:
    assert 'id="examples"' not in page(BEFORE)
    plain = page(with_samples(BEFORE, {"a": ATTACK}, "é < b", 3))
    assert Elements(plain).count("pre") == 3
    assert '{"a": "<script>alert(1)</script>"}' in Elements(plain).text
    assert ATTACK not in without_bundle(plain)
    assert "shown &lt;b&gt;" in page(with_samples(BEFORE, "<b>", domain=some_domain()))
    html = page(with_samples(BEFORE, "one", "two", domain=some_domain(views=Views(draw=drawn))))
    assert Elements(html).count("svg") >= 2
    assert "<svg><title>two</title></svg>" in html
    assert "w3.org" not in without_bundle(html)
    assert "<h3>" not in html


def test_a_comparison_shows_the_examples_of_both_sides() -> None:
    html = page(with_samples(BEFORE, "old").compare(with_samples(AFTER, "new" * 9_000)))
    headings = re.findall("<h3>(.*?)</h3>", html)
    assert headings == ["Before: calculator/dcfg", "After: repaired"]
    assert html.index(">old</pre>") < html.index("After: repaired") < html.index("newnew")
    assert "new" * 1_000 in html
    assert "new" * 2_000 not in html
    one_sided = page(BEFORE.compare(with_samples(AFTER, "new")))
    assert re.findall("<h3>(.*?)</h3>", one_sided) == ["After: repaired"]


def test_an_example_that_cannot_be_shown_is_written_plainly() -> None:
    def fails(example: object) -> str:
        raise UnskewError("no")

    html = page(
        with_samples(
            BEFORE, {"a": 1}, domain=replace(some_domain(views=Views(draw=fails)), show=fails)
        )
    )
    assert '<pre class="example">{&#34;a&#34;: 1}</pre>' in html


def test_samples_are_no_part_of_what_an_audit_says() -> None:
    shown = with_samples(BEFORE, "one")
    assert shown == BEFORE
    assert shown.to_dict() == BEFORE.to_dict()


def test_a_long_histogram_is_cut_and_says_so() -> None:
    long = variable("x", dict.fromkeys(range(2_500), 1))
    html = page(audit(long))
    assert "500 more values" in html
    assert "2,500 values, neighbours pooled into 60 bars" in html


def test_scripts_cannot_be_ended_from_inside() -> None:
    template = environment().from_string("{{ data | tojson }}")
    assert template.render(data={"a": "</script>&"}) == r'{"a":"\u003c/script\u003e\u0026"}'
    assert script_in_script('"</SCRIPT><!--<script>"') == r'"\x3c/SCRIPT>\x3c!--\x3cscript>"'
    assert script_in_script("a < b") == "a < b"


def test_a_template_refuses_a_name_that_nobody_gave() -> None:
    with pytest.raises(UndefinedError, match="nothing"):
        environment().from_string("{{ nothing }}").render()


def test_a_value_stays_in_its_cell_of_a_card() -> None:
    assert markdown("a|b\n<script>") == "a\\|b &lt;script>"


def test_only_own_files_the_bundle_and_drawings_are_not_escaped() -> None:
    root = Path(__file__).parents[1] / "src"
    texts = [path.read_text(encoding="utf-8") for path in root.rglob("*.html")]
    unescaped = re.findall(r"{{ ([^{}]*?)(?:\(.*?\))? \| safe }}", "".join(texts))
    assert set(unescaped) == {"source", "vega", "drawing"}
    assert len(re.findall(r"\|\s*safe\b", "".join(texts))) == len(unescaped)
    assert "autoescape" not in "".join(texts)


def test_a_comparison_says_over_which_values_its_distances_are():
    before = measure([1, 1, 2, 3], by={"x": abs, "same": lambda e: e % 2})
    after = measure([3, 4, 5], by={"x": abs, "same": lambda e: e % 2})
    text = str(before.compare(after))
    message = "KL and TV are over the values that either side has: x 5 values (3 before, 3 after)."
    assert message in " ".join(text.split())
    assert "KL and TV are over" not in str(before.compare(before))
