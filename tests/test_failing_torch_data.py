"""An error in the code of a dataset of PyTorch is one line, with the example and the place."""

from collections.abc import Iterator
from typing import Any

import pytest

from unskew import UnskewError, audit, resample

torch = pytest.importorskip("torch")


def failing(number: int) -> dict[str, int]:
    if number == 2:
        raise OSError("broken image\nof two lines")
    return {"a": number}


class Numbered(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
    def __len__(self) -> int:
        return 4

    def __getitem__(self, number: int) -> dict[str, int]:
        return failing(number)


class Streamed(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined]
    def __iter__(self) -> Iterator[dict[str, int]]:
        return map(failing, range(4))


@pytest.mark.parametrize(
    ("target", "what"),
    [
        (Numbered(), "example 2 of a tests Numbered"),
        (Streamed(), "a tests Streamed"),
        (torch.utils.data.DataLoader(Numbered(), batch_size=2), "a torch DataLoader"),
        (torch.utils.data.DataLoader(Streamed(), batch_size=None), "a torch DataLoader"),
    ],
)
def test_one_line_names_what_failed(target: Any, what: str) -> None:
    with pytest.raises(UnskewError, match=f"{what} raised OSError: broken image of two lines") as e:
        audit(target, by="a")
    assert "test_failing_torch_data.py line" in str(e.value)


def test_resampling_too() -> None:
    with pytest.raises(UnskewError, match="example 2 of a tests Numbered raised OSError"):
        resample(Numbered(), by="a")
