"""The page of what was found: it loads nothing, escapes everything, and shows rows behind bars."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import unskew
from tests.commands import exit_code
from unskew.discovery.report.page import BARS, page, save_page

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "link"}


class Nesting(HTMLParser):
    """Notes the elements that are open, and what is wrong with their order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.fixture(scope="module")
def discovery():
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(2_000):
        a, b = int(rng.integers(1, 1_000)), int(rng.integers(1, 100))
        right = a % 2 == 0 if rng.random() < 0.7 else rng.random() < 0.5
        word = EVIL if rng.random() < 0.8 else "add"
        rows.append(
            {
                "question": f"{word} {a} and {b}",
                "number": a,
                "answer": EVIL if right else "no",
                "wrong": bool(rng.random() < (0.5 if b > 90 else 0.05)),
            }
        )
    return unskew.discover(rows, answer="answer", failures="wrong")


@pytest.fixture(scope="module")
def html(discovery):
    return page(discovery)


def test_all_elements_are_closed_and_no_script_is_there(html):
    parser = Nesting()
    parser.feed(html)
    assert not parser.wrong
    assert not parser.open
    assert "script" not in {tag for tag, _ in parser.tags}
    assert EVIL not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_the_page_loads_nothing(html):
    parser = Nesting()
    parser.feed(html)
    addresses = [attrs[key] for _, attrs in parser.tags for key in ("src", "href") if key in attrs]
    assert all(re.match(r"#|data:,", address) for address in addresses)
    assert "default-src 'none'" in html
    assert "url(" not in html


def test_each_finding_has_a_section_that_its_row_links_to(discovery, html):
    parser = Nesting()
    parser.feed(html)
    ids = [attrs["id"] for _, attrs in parser.tags if "id" in attrs]
    links = [attrs["href"][1:] for tag, attrs in parser.tags if tag == "a"]
    assert len(ids) == len(set(ids))
    assert sorted(links) == sorted(name for name in ids if name.startswith("finding-"))
    assert len(links) == len(discovery.findings) > 2
    assert {finding.kind for finding in discovery} >= {"shortcut", "failure", "skew"}


def test_behind_a_bar_are_rows_that_have_its_value(discovery, html):
    (parity,) = [finding for finding in discovery.of_kind("shortcut") if "parity" in finding.name]
    section = html.split(f"{parity.name}</h2>")[1].split("</section>")[0]
    opened = dict(re.findall(r'"label">(\w+)</span>.*?</summary>(.*?)</details>', section, re.S))
    assert set(opened) == {"odd", "even"}
    for value, text in opened.items():
        numbers = [int(text) for text in re.findall(r"&#34;number&#34;: (\d+)", text)]
        assert numbers
        assert all((number % 2 == 1) == (value == "odd") for number in numbers)


def test_a_long_histogram_is_cut_and_says_so(discovery, html):
    long = [f for f in discovery if len(f.counts) > BARS]
    assert long
    for finding in long:
        assert f"{len(finding.counts) - BARS} more value" in html
    assert html.count('class="track"') == sum(min(BARS, len(f.counts)) for f in discovery)


def test_the_page_is_saved(discovery, html, tmp_path):
    save_page(discovery, tmp_path / "found.html")
    assert (tmp_path / "found.html").read_text(encoding="utf-8") == html


def test_where_nothing_is_found_the_page_says_so():
    rng = np.random.default_rng(1)
    found = unskew.discover([{"x": int(x)} for x in rng.integers(0, 2, 400)])
    assert not found.findings
    assert "Nothing found" in page(found)


def test_a_discovery_writes_and_opens_its_page(discovery, html, tmp_path, monkeypatch):
    assert discovery.picture(tmp_path / "a.html").read_text(encoding="utf-8") == html
    with pytest.raises(unskew.UnskewError, match=r"a.png has the suffix '.png'; allowed are .html"):
        discovery.picture(tmp_path / "a.png")
    asked = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or True)
    path = discovery.open()
    assert asked == [path.as_uri()]
    assert path.read_text(encoding="utf-8") == html
    path.unlink()


def test_the_command_writes_the_page(tmp_path, capsys):
    data = tmp_path / "data.jsonl"
    data.write_text('{"x": "a"}\n' * 900 + '{"x": "b"}\n' * 100)
    written = tmp_path / "page.html"
    assert exit_code("discover", str(data), "--report", str(written)) == 0
    assert "report: " in capsys.readouterr().out
    assert "x = &#39;a&#39;" in written.read_text(encoding="utf-8")
    assert exit_code("discover", str(data), "--report", str(tmp_path / "page.svg")) == 2
    assert "allowed are .html" in capsys.readouterr().err
