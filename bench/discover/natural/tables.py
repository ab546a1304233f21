"""Tables: customers with numbers, categories, dates, texts and missing values; measurements."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from bench.discover.kinds import Row

CITIES = ("Bern", "Lyon", "Porto", "Graz", "Ghent", "Turin", "Malmö", "Cork")
PLANS = ("basic", "plus", "pro")
FIRST = ("Ana", "Ben", "Cora", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ida", "Jon", "Kim", "Leo")
LAST = ("Abel", "Berg", "Costa", "Diaz", "Egli", "Frei", "Grau", "Horn", "Imhof", "Jost")
NOTES = ("asked", "paid", "moved", "called", "waited", "signed", "returned", "wrote")
START, DAYS = date(2021, 1, 1), 4 * 365 + 1  # four whole years


def customers(rng: np.random.Generator, n: int) -> list[Row]:
    """Return customers; the answer, whether they stayed, depends on nothing."""
    rows = []
    for _ in range(n):
        first, last = FIRST[rng.integers(len(FIRST))], LAST[rng.integers(len(LAST))]
        joined = START + timedelta(days=int(rng.integers(DAYS)))
        notes = " ".join(NOTES[i] for i in rng.integers(len(NOTES), size=rng.integers(1, 7)))
        rows.append(
            {
                "id": int(rng.integers(100_000, 1_000_000)),
                "name": f"{first} {last}",
                "age": int(rng.integers(18, 82)),
                "city": CITIES[rng.integers(len(CITIES))],
                "plan": PLANS[rng.integers(len(PLANS))],
                "joined": joined.isoformat(),
                "balance": round(float(rng.normal(0, 400)), 2),
                "visits": int(rng.binomial(20, 0.5)),
                "phone": f"0{rng.integers(10, 100)} {rng.integers(100, 1000)} "
                f"{rng.integers(10, 100)} {rng.integers(10, 100)}",
                "notes": notes,
                "answer": ("stayed", "left")[rng.integers(2)],
            }
        )
    return rows


def readings(rng: np.random.Generator, n: int) -> list[Row]:
    """Return readings of sensors; each of two columns is missing in half of the rows."""
    rows = []
    for _ in range(n):
        day = START + timedelta(days=int(rng.integers(DAYS)))
        hour, minute = int(rng.integers(24)), int(rng.integers(60))
        rows.append(
            {
                "time": f"{day.isoformat()}T{hour:02d}:{minute:02d}",
                "sensor": f"{'abcdef'[rng.integers(6)]}{rng.integers(1, 10)}",
                "x": round(float(rng.normal(50, 12)), 1),
                "y": round(float(rng.normal(50, 12)), 1),
                "pressure": int(rng.integers(900, 1100)) if rng.random() < 0.5 else None,
                "humidity": int(rng.integers(0, 101)) if rng.random() < 0.5 else None,
                "code": "".join("ABCDEFGH"[i] for i in rng.integers(8, size=5)),
                "flags": int(rng.integers(16)),
                "answer": ("ok", "alarm")[rng.integers(2)],
            }
        )
    return rows


def day(row: Row) -> date:
    """Return the date of a row."""
    return date.fromisoformat((row["joined"] if "joined" in row else row["time"])[:10])


def with_(row: Row, **values: Any) -> Row:
    """Return a row with other values."""
    return {**row, **values}


VARIANTS = {"customers": customers, "readings": readings}
