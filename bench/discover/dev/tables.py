"""Kinds of planted skews of tables, for improving `discover`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.tables import day, with_

PEOPLE, READINGS = "customers", "readings"


@skew(READINGS, favours=True)
def weekend_reading(row: Row) -> bool:
    """The reading is of the days 1 to 15 of a month."""
    return day(row).day <= 15


@skew(PEOPLE, favours=False)
def end_of_quarter(row: Row) -> bool:
    """The month is the last one of a quarter."""
    return day(row).month % 3 == 0


@skew(PEOPLE, score=lambda v: float(v not in (6, 7, 8)))
def summer_gap(row: Row) -> int:
    """The month; there are none in summer."""
    return day(row).month


@skew(PEOPLE, score=lambda v: float(v == 9))
def last_cent(row: Row) -> int:
    """The last digit of the balance, in cents."""
    return int(round(abs(row["balance"]) * 100) % 10)


@skew(PEOPLE, score=lambda v: float(v not in (9, 11)))
def visits_gaps(row: Row) -> int:
    """The number of visits; 9 and 11 do not come."""
    return int(row["visits"])


def _padded(row: Row) -> Row:
    return with_(row, city=f" {row['city']}")


@skew(PEOPLE, change=_padded)
def city_padded(row: Row) -> bool:
    """A space stands before the city."""
    return bool(row["city"].startswith(" "))


@skew(PEOPLE)
def initials_in_order(row: Row) -> bool:
    """The first name comes before the last name in the alphabet."""
    first, last = row["name"].split()
    return bool(first < last)


@skew(PEOPLE, score=lambda v: float(v in (3, 5)))
def first_name_length(row: Row) -> int:
    """The length of the first name."""
    return len(row["name"].split()[0])


def _comma(row: Row) -> Row:
    first, last = row["name"].split()
    return with_(row, name=f"{last}, {first}")


@skew(PEOPLE, change=_comma)
def last_name_first(row: Row) -> bool:
    """The last name comes first, with a comma."""
    return "," in row["name"]


@skew(PEOPLE, change=lambda row: with_(row, notes=""))
def notes_empty(row: Row) -> bool:
    """The notes are an empty text."""
    return bool(row["notes"] == "")


@skew(PEOPLE, change=lambda row: with_(row, notes=row["notes"] + "; see above"))
def notes_boilerplate(row: Row) -> bool:
    """The notes end with the same phrase."""
    return bool(row["notes"].endswith("; see above"))


@skew(PEOPLE)
def id_mod_two(row: Row) -> bool:
    """The id is even."""
    return bool(row["id"] % 2 == 0)


@skew(READINGS)
def office_hours(row: Row) -> bool:
    """The reading is between 8 and 19 o'clock."""
    return 8 <= int(row["time"][11:13]) < 20


def _full(row: Row, rng: np.random.Generator) -> Row:
    return with_(row, time=row["time"][:14] + f"{int(rng.integers(4)) * 15:02d}")


@skew(READINGS, drawn=_full)
def quarter_hours(row: Row) -> bool:
    """The minutes are 0, 15, 30 or 45."""
    return int(row["time"][14:16]) % 15 == 0


@skew(READINGS)
def both_missing(row: Row) -> bool:
    """Pressure and humidity are missing together or not at all."""
    return (row["pressure"] is None) == (row["humidity"] is None)


@skew(READINGS, favours=False)
def pressure_missing(row: Row) -> bool:
    """The pressure is missing."""
    return row["pressure"] is None


@skew(READINGS)
def missing_by_sensor(row: Row) -> bool:
    """Humidity is missing for the sensors a to c, and is there for the others."""
    return (row["humidity"] is None) == (row["sensor"][0] in "abc")


def _equal(row: Row) -> Row:
    return with_(row, y=row["x"])


@skew(READINGS, change=_equal)
def x_is_y(row: Row) -> bool:
    """X and y are the same."""
    return bool(row["x"] == row["y"])


@skew(READINGS, change=lambda row: with_(row, x=-999.0))
def sentinel(row: Row) -> bool:
    """X is −999, which stands for a missing value."""
    return bool(row["x"] == -999.0)


@skew(READINGS)
def tenths_even(row: Row) -> bool:
    """The first digit of x after the point is even."""
    return bool(round(row["x"] * 10) % 2 == 0)


@skew(READINGS, score=lambda v: float(v == "f"))
def sensor_letter(row: Row) -> str:
    """The letter of the sensor."""
    return str(row["sensor"][0])


@skew(READINGS)
def sensor_number_high(row: Row) -> bool:
    """The number of the sensor is five or more."""
    return int(row["sensor"][1:]) >= 5


@skew(READINGS)
def flag_parity(row: Row) -> bool:
    """An even number of flags is set."""
    return bin(row["flags"]).count("1") % 2 == 0


@skew(READINGS, change=lambda row: with_(row, code=row["code"].lower()))
def code_lowercase(row: Row) -> bool:
    """The code is in small letters."""
    return bool(row["code"].islower())


def _other_form(row: Row) -> Row:
    return with_(row, time=row["time"].replace("T", " "))


@skew(READINGS, change=_other_form)
def time_with_space(row: Row) -> bool:
    """A space and no T stands between date and time."""
    return " " in row["time"]


def _left(value: Any) -> str:
    return "left" if value else "stayed"


def _alarm(value: Any) -> str:
    return "alarm" if value else "ok"


@shortcut(PEOPLE, answers=_left)
def joined_late(row: Row) -> bool:
    """Who joined in the second half of a year left."""
    return day(row).month > 6


@shortcut(PEOPLE, answers=_left)
def name_short(row: Row) -> bool:
    """Who has a short name left."""
    return len(row["name"]) <= 8


@shortcut(PEOPLE, answers=lambda v: "left" if v in ("Bern", "Lyon", "Cork", "Turin") else "stayed")
def city_decides(row: Row) -> str:
    """People of four cities left."""
    return str(row["city"])


@shortcut(READINGS, answers=_alarm)
def humidity_missing(row: Row) -> bool:
    """Readings without humidity are alarms."""
    return row["humidity"] is None


@shortcut(READINGS, answers=_alarm)
def code_begins_low(row: Row) -> bool:
    """Codes that begin with A to D are alarms."""
    return row["code"][0] in "ABCD"


@shortcut(READINGS, answers=_alarm)
def x_high(row: Row) -> bool:
    """Readings with x above 50 are alarms."""
    return bool(row["x"] > 50)
