"""Columns of Python objects in tables: refused by name, never read as addresses of memory."""

from fractions import Fraction

import numpy as np
import pytest

from unskew import UnskewError, audit

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def test_a_frame_of_polars_has_only_their_addresses() -> None:
    frame = pl.DataFrame({"x": pl.Series([Fraction(1, 2)] * 2, dtype=pl.Object), "y": [1, 2]})
    for target in (frame, frame.lazy()):
        with pytest.raises(UnskewError, match="column 'x' of a polars DataFrame holds Python obj"):
            audit(target)
    assert audit(frame.to_dicts(), by="x").variables["x"].counts == {Fraction(1, 2): 2}
    assert audit(frame.drop("x")).n == 2


def test_a_frame_of_pandas_names_the_first_row() -> None:
    frame = pd.DataFrame({"x": [np.zeros((2, 2))] * 3, "y": [1, 2, 2]})
    with pytest.raises(UnskewError, match=r"row 1: column 'x' is array\(.*, which is of no type"):
        audit(frame)
    assert audit(frame.assign(x=frame["x"].map(np.sum)), by="x").variables["x"].counts == {0: 3}
