"""Rows of Karel examples as JSON: the original's records, our columns, programs alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.machinery import Reader, Target
from fuzz.mutate import change_json, pick
from unskew.core.domain import example_data
from unskew.core.errors import UnskewError
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.formats.records import numbered_record, read_row
from unskew.io.lookup import find_source


def examples(n: int) -> list[dict[str, Any]]:
    """Return a few examples of the original's kind."""
    batch, _ = find_source("karel/msr").draw(np.random.default_rng(0), n)
    return list(batch.examples())


def _reader(rows: list[bytes]) -> Reader:
    def read(data: bytes) -> None:
        try:
            row = json.loads(data)
        except (ValueError, RecursionError) as error:  # `targets` refuses it
            raise UnskewError("no JSON") from error
        example = read_row(row) if isinstance(row, dict) else None
        if example is not None:
            DOMAIN.show(example)
            if "inputs" in example:
                DOMAIN.formats.write_row(example)

    return Reader(lambda rng: change_json(rng, pick(rng, rows)), read)


def _records(_: Path) -> Reader:
    return _reader([json.dumps(numbered_record(row, 1)).encode() for row in examples(30)])


def _json_rows(_: Path) -> Reader:
    return _reader([json.dumps(example_data(row, DOMAIN)).encode() for row in examples(30)])


TARGETS = (Target("karel-records", _records, 1600), Target("karel-rows", _json_rows, 5000))
