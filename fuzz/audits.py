"""Files of saved audits, read and shown in every way there is."""

from __future__ import annotations

from pathlib import Path

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import TEXTUAL, change_json, often, pick
from unskew import Audit, audit
from unskew.audits.saved import audit_text
from unskew.core.variables.combine import over


def _saved_audits(folder: Path) -> Reader:
    rows = [
        {"a": i % 3, "b": "xyz"[i % 2], "c": i / 7, "d": None if i % 5 else True}
        for i in range(200)
    ]
    tuples = {
        "pair": lambda row: (row["a"], float("inf")),
        "few": over(lambda row: row["a"], range(5)),
    }
    seeds = [audit_text(made).encode() for made in (audit(rows), audit(rows, by=tuples))]
    path = folder / "audit.json"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        loaded = Audit.load(path)
        str(loaded)
        loaded._repr_html_()
        loaded.to_dict()
        loaded.breaches(*(f"{name}.missing > 0" for name in loaded.variables), "duplicates > 0")
        if loaded.variables:
            str(loaded.compare(loaded))
        loaded.save(path)
        if Audit.load(path) != loaded:
            raise ValueError("an audit that was saved is another audit")

    def make(rng: Rng) -> bytes:
        data = change_json(rng, pick(rng, seeds))
        return often(rng, data, TEXTUAL) if rng.random() < 0.2 else data

    return Reader(make, read)


TARGETS = (Target("audits", _saved_audits, 400),)
