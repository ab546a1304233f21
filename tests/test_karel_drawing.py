"""Karel drawn as SVG: whole, readable by XML, everything in its place, nothing believed."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import unskew
from tests.karel import EXAMPLE, random_examples
from unskew.core.errors import UnskewError
from unskew.domains import load_domain
from unskew.domains.karel import from_picture
from unskew.domains.karel.formats.draw import KAREL, MARKER, MOST_WIDE, example_svg, world_svg
from unskew.domains.karel.world import from_bytes, grid_of

SVG = "{http://www.w3.org/2000/svg}"
ATTACK = "<script>alert(1)</script>"


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def test_a_world_has_its_walls_markers_and_karel():
    root = parsed(world_svg(from_picture("# 3 .\n. >2 #")))
    assert root.tag == f"{SVG}svg"
    title = root.findtext(f"{SVG}title")
    assert title == (
        "2 × 3 cells, 2 walls, 5 markers, Karel in row 1 from below, column 2, facing east"
    )
    discs = root.findall(f".//{SVG}circle")
    assert [disc.get("fill") for disc in discs] == [MARKER, MARKER]
    assert sorted(text.text or "" for text in root.iter(f"{SVG}text")) == ["2", "3"]
    (karel,) = [path for path in root.iter(f"{SVG}path") if path.get("fill") == KAREL]
    assert "rotate(90)" in (karel.get("transform") or "")
    assert len([p for p in root.iter(f"{SVG}path") if p.get("opacity") == ".72"]) == 2
    assert root.find(f".//{SVG}g").get("role") == "img"


def test_row_zero_is_at_the_bottom():
    root = parsed(world_svg(from_picture(". .\n>. 4"), cell=10))
    (disc,) = root.iter(f"{SVG}circle")
    assert (float(disc.get("cx")), float(disc.get("cy"))) == (15, 15)


@pytest.mark.parametrize("seed", range(3))
def test_an_example_has_its_program_and_every_pair(seed):
    for example in random_examples(5, seed, worlds=6):
        root = parsed(example_svg(example))
        texts = [text.text for text in root.iter(f"{SVG}text")]
        assert texts[0] == "def main():"
        assert "pair 6" in texts
        titles = [title.text or "" for title in root.iter(f"{SVG}title")]
        assert len(titles) == 13
        assert sum("before" in title for title in titles) == 6
        marked = sum(
            int(((grid_of(world) > 0) & (grid_of(world) < 255)).sum())
            for key in ("inputs", "outputs")
            for world in from_bytes(example[key])
        )
        assert len(root.findall(f".//{SVG}circle")) == marked
        wide = max(2 * grid_of(world).shape[1] * 18 + 40 for world in from_bytes(example["inputs"]))
        letters = max(len(text or "") for text in texts) + 4 * 60
        assert float(root.get("width")) <= max(MOST_WIDE + 4, wide, letters * 7.8)
        width, height = map(float, root.get("viewBox").split()[2:])
        assert (width, height) == (float(root.get("width")), float(root.get("height")))


def test_a_drawing_loads_and_runs_nothing():
    svg = example_svg(EXAMPLE)
    elements = {element.tag.removeprefix(SVG) for element in parsed(svg).iter()}
    assert elements <= {"svg", "title", "g", "text", "path", "rect", "circle"}
    assert "url(" not in svg
    assert "href" not in svg


def test_what_is_no_example_is_refused_in_a_line():
    for change in ({"program": ATTACK}, {"inputs": b"x"}, {"inputs": EXAMPLE["inputs"][:260]}):
        with pytest.raises(UnskewError) as caught:
            example_svg({**EXAMPLE, **change})
        assert "\n" not in str(caught.value)


def test_a_page_draws_examples_and_escapes_what_cannot_be_drawn(tmp_path):
    domain = load_domain("karel")
    by = {"one": lambda _: 1}
    bad = {**EXAMPLE, "program": ATTACK}
    outcome = unskew.audit([EXAMPLE, bad], by)
    samples = (EXAMPLE, bad)
    result = unskew.Audit("x", 2, 2, outcome.variables, {}, samples=samples, domain=domain)
    html = result.picture(tmp_path / "x.html").read_text(encoding="utf-8")
    assert html.count('<div class="example"><svg ') == 1
    assert html.count('<pre class="example">') == 1
    own = html.partition("<script")[0]
    assert "xmlns" not in own
    assert "&lt;script&gt;alert(1)" in own
    assert ATTACK not in html


def test_worlds_of_every_size_are_drawn_inside_their_frame():
    rng = np.random.default_rng(0)
    for _ in range(20):
        height, width = rng.integers(2, 17, 2)
        rows = [["9"] * width for _ in range(height)]
        rows[rng.integers(height)][rng.integers(width)] = "^9"
        root = parsed(world_svg(from_picture("\n".join(" ".join(row) for row in rows)), cell=10))
        for disc in root.iter(f"{SVG}circle"):
            x, y, r = (float(disc.get(key)) for key in ("cx", "cy", "r"))
            assert r <= x <= 10 * width - r + 1e-9
            assert r <= y <= 10 * height - r + 1e-9
