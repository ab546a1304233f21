"""Examples that are no dicts: they are called ``example``, and what is inside has a path."""

from pathlib import Path
from typing import Any

import pytest

import unskew
from unskew import UnskewError, audit, clip, plan, resample

PAIRS = [(f"question {i}", i % 3 // 2) for i in range(60)]  # (input, label), as for PyTorch


def counts(examples: Any, by: Any) -> dict[Any, int]:
    (variable,) = audit(examples, by=by).variables.values()
    return dict(variable.counts)


@pytest.mark.parametrize("by", ["example", {"number": "example"}, clip("example", 0, 9)])
def test_the_name_that_a_report_shows_can_be_given(by: Any) -> None:
    assert list(audit([1, 2, 2]).variables) == ["example"]
    assert counts([1, 2, 2], by) == {1: 1, 2: 2}


def test_items_are_named_by_their_place() -> None:
    assert counts(PAIRS, "example[1]") == {0: 40, 1: 20}
    assert counts(PAIRS, {"label": "example[-1]"}) == {0: 40, 1: 20}
    assert resample(PAIRS, by="example[1]", epsilon=0).rows == 40
    assert plan(PAIRS, by="example[1]").names == ("example[1]",)


def test_json_lines_that_are_lists(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('["a", 1]\n["b", 1]\n', encoding="utf-8")
    assert counts(path, "example[1]") == {1: 2}
    assert counts(path, "count(example)") == {2: 2}


def test_a_bare_audit_takes_tuples_apart() -> None:
    result = audit(PAIRS)
    assert list(result.variables) == [
        "characters(example[0])",
        "words(example[0])",
        "example[1]",
    ]
    assert result.variables["example[1]"].counts == {0: 40, 1: 20}


def test_tuples_of_several_lengths_are_counted() -> None:
    assert list(audit([("a",) * (i % 3) for i in range(90)]).variables) == ["example"]


def test_a_dataset_of_pytorch_and_its_loader() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.zeros(4, 3), torch.tensor([1, 1, 2, 1]))
    loader = torch.utils.data.DataLoader(data, batch_size=3)
    for target in (data, loader):
        result = audit(target)
        assert list(result.variables) == ["count(example[0])", "example[1]"]
        assert result.variables["example[1]"].counts == {1: 3, 2: 1}
    assert len(unskew.Sampler(data, by="example[1]", epsilon=0)) == 2


def test_a_wrong_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnskewError, match="unknown variable 'exmple'; did you mean 'example'"):
        audit([1, 2], by="exmple")


def test_one_example_among_others_that_is_no_dict_is_named() -> None:
    with pytest.raises(UnskewError, match=r"row 2: an example is \[1\], which has no 'a'"):
        audit([{"a": 1}, [1]], by="a")
