# HELD OUT: nobody who works on `discover` reads or runs these kinds before the last
# measurement. The kinds in dev/ are there to be looked at.
"""Kinds of planted skews of tables, for the last measurement."""

from __future__ import annotations

from typing import Any

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.tables import day, with_

PEOPLE, READINGS = "customers", "readings"


@skew(PEOPLE, score=lambda v: float(v < 5))
def weekday_joined(row: Row) -> int:
    """The day of the week of the date; weekends hardly come."""
    return day(row).weekday()


def _round_age(row: Row) -> Row:
    return with_(row, age=min(80, 5 * round(row["age"] / 5)))


@skew(PEOPLE, change=_round_age)
def age_rounded(row: Row) -> bool:
    """The age is a multiple of five."""
    return bool(row["age"] % 5 == 0)


@skew(PEOPLE, score=lambda v: float(v == 0))
def age_mod_three(row: Row) -> int:
    """The age, modulo three."""
    return int(row["age"] % 3)


@skew(PEOPLE, change=lambda row: with_(row, balance=float(round(row["balance"]))))
def balance_whole(row: Row) -> bool:
    """The balance has no cents."""
    return bool(row["balance"] == round(row["balance"]))


@skew(PEOPLE)
def first_digit_low(row: Row) -> bool:
    """The first digit of the balance is 1 or 2."""
    return str(abs(row["balance"])).lstrip("0.")[:1] in ("1", "2")


@skew(PEOPLE)
def owes(row: Row) -> bool:
    """The balance is below zero."""
    return bool(row["balance"] < 0)


@skew(PEOPLE)
def visits_odd(row: Row) -> bool:
    """The number of visits is odd."""
    return bool(row["visits"] % 2 == 1)


@skew(PEOPLE, score=lambda v: float(v == "Graz"))
def which_city(row: Row) -> str:
    """The city."""
    return str(row["city"])


@skew(PEOPLE)
def city_and_plan(row: Row) -> bool:
    """The cities of the first half have the plans basic and plus, others have pro."""
    return bool((row["city"] in ("Bern", "Lyon", "Porto", "Graz")) == (row["plan"] != "pro"))


@skew(PEOPLE, change=lambda row: with_(row, phone=row["phone"].replace(" ", "")))
def phone_unspaced(row: Row) -> bool:
    """The phone number has no spaces."""
    return " " not in row["phone"]


@skew(PEOPLE, change=lambda row: with_(row, phone=None))
def phone_missing(row: Row) -> bool:
    """There is no phone number."""
    return row["phone"] is None


@skew(PEOPLE, favours=False)
def mentions_moved(row: Row) -> bool:
    """The notes say that someone moved."""
    return "moved" in row["notes"]


@skew(PEOPLE)
def notes_begin_before(row: Row) -> bool:
    """The first word of the notes comes before the last one in the alphabet, or is the same."""
    found = row["notes"].split()
    return bool(found[0] <= found[-1])


@skew(PEOPLE)
def old_and_negative(row: Row) -> bool:
    """People above fifty owe money, and younger ones do not."""
    return bool((row["age"] >= 50) == (row["balance"] < 0))


@skew(READINGS)
def x_above_y(row: Row) -> bool:
    """X is larger than y."""
    return bool(row["x"] > row["y"])


@skew(READINGS, change=lambda row: with_(row, x=min(row["x"], 45.0)))
def x_clipped(row: Row) -> bool:
    """X is exactly 45, the most that the sensor shows."""
    return bool(row["x"] == 45.0)


@skew(READINGS)
def code_ends_vowel(row: Row) -> bool:
    """The last letter of the code is in the first half of the letters."""
    return row["code"][-1] in "ABCD"


@skew(READINGS, favours=False)
def code_repeats(row: Row) -> bool:
    """A letter comes twice in the code."""
    return len(set(row["code"])) < len(row["code"])


@skew(READINGS)
def third_flag(row: Row) -> bool:
    """The third bit of the flags is set."""
    return bool(row["flags"] & 4)


def _left(value: Any) -> str:
    return "left" if value else "stayed"


def _alarm(value: Any) -> str:
    return "alarm" if value else "ok"


@shortcut(PEOPLE, answers=_left)
def id_odd(row: Row) -> bool:
    """Customers with an odd id left."""
    return bool(row["id"] % 2 == 1)


@shortcut(READINGS, answers=_alarm)
def night(row: Row) -> bool:
    """Readings before noon are alarms."""
    return int(row["time"][11:13]) < 12
