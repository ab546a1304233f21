"""Odd data in discover: each is searched, or refused in one line, and nothing is lost unsaid."""

import numpy as np
import pytest

from tests.commands import exit_code
from unskew.core.errors import UnskewError
from unskew.datasets.discover import discover
from unskew.discovery.report.page import page


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("rows", "asked", "message"),
    [
        ([], {}, "gave no examples; there is nothing to discover"),
        ([{"a": 1}], {}, "has one row, and a skew shows in many; give at least a few hundred"),
        ([{"a": 1}] * 50, {}, "all 50 rows of examples are alike"),
        (
            [{"a": i % 5} for i in range(90)],
            {"answer": "answr"},
            "unknown variable 'answr'; choose from a",
        ),
        ([{"a": i % 5} for i in range(90)], {"failures": [0] * 90}, "failures are all 0 in 90"),
        ([{"a": i % 5} for i in range(90)], {"failures": "b"}, "unknown variable 'b'"),
    ],
)
def test_what_cannot_be_searched_is_one_line(rows, asked, message):
    with pytest.raises(UnskewError, match=r"^[^\n]+$") as error:
        discover(rows, **asked)
    assert message in str(error.value)


def test_a_column_of_images_beside_text_is_searched(rng):
    made = [
        {
            "image": rng.integers(0, 256, (6, 6, 3)).astype(np.uint8) // (1 + 3 * (i % 5 > 0)),
            "text": f"picture {i % 7}",
        }
        for i in range(400)
    ]
    assert any("image" in finding.name for finding in discover(made))


def test_a_feature_that_raises_is_counted(rng):
    def broken(text: str) -> int:
        raise RuntimeError(f"cannot read {text}")

    def broken_at_times(text: str) -> int:
        return {"w0": 1, "w1": 2, "w2": 3}[text]

    made = [{"text": f"w{int(rng.integers(5))}"} for _ in range(300)]
    found = discover(made, own=[broken, broken_at_times])
    reasons = " ".join(found.left_out)
    assert "broken(text)' raised RuntimeError: cannot read w" in reasons
    assert "broken_at_times(text)' raised KeyError" in reasons
    assert not any("broken" in finding.name for finding in found)


def test_a_million_different_words_are_counted_and_no_feature_each(rng):
    made = [{"text": " ".join(f"t{n}" for n in range(i, i + 100))} for i in range(0, 10**6, 100)]
    found = discover(made)
    assert found.left_out["words beyond the 80 most frequent"] == 10**6
    assert found.proposed < 500


@pytest.mark.parametrize(
    "odd",
    [
        lambda i: "(" * (i % 50) * 400 + ")",
        lambda i: "[" * 5_000 + "]" * 5_000 + str(i % 3),
        lambda i: "ab " * 20_000 + str(i),
    ],
    ids=["brackets", "JSON", "long"],
)
def test_texts_that_are_deep_or_long_are_searched(odd):
    found = discover([{"text": odd(i), "b": i % 3} for i in range(150)])
    assert found.rows == 150


def test_lists_in_lists_without_end_are_one_line():
    deep = None
    for _ in range(900):
        deep = [deep]
    with pytest.raises(UnskewError, match="has more than 100 levels of lists and dicts"):
        discover([{"a": deep, "b": i} for i in range(100)])


def test_ten_thousand_columns_are_counted():
    found = discover([{f"k{i}_{j}": 1 for j in range(50)} for i in range(200)])
    assert found.left_out["paths beyond the first 120"] == 200 * 50 - 120


def test_stopping_a_search_is_one_line(tmp_path, capsys, monkeypatch):
    data = tmp_path / "data.jsonl"
    data.write_text("".join(f'{{"x": {i % 7}}}\n' for i in range(500)))

    def stopped(*_args, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("unskew.datasets.discover.propose", stopped)
    assert exit_code("discover", str(data)) == 130
    written = capsys.readouterr()
    assert not written.out
    assert "Traceback" not in written.err


@pytest.mark.parametrize("attack", ["<script>alert(1)</script>", "[red]x[/red]", "\x1b[31mred"])
def test_what_comes_from_data_steers_no_terminal_page_or_notebook(attack):
    rng = np.random.default_rng(0)
    made = [
        {f"name {attack}": attack if rng.random() < 0.9 else "b", attack: int(rng.integers(3))}
        for _ in range(500)
    ]
    found = discover(made)
    assert found.findings
    for text in (str(found), found._repr_html_(), page(found)):
        assert "\x1b" not in text
    for html in (found._repr_html_(), page(found)):
        assert "<script" not in html
    assert "[red]" in str(found) or "[red]" not in attack
