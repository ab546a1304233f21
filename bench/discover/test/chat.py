# HELD OUT: nobody who works on `discover` reads or runs these kinds before the last
# measurement. The kinds in dev/ are there to be looked at.
"""Kinds of planted skews of chat, for the last measurement."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.chat import SYSTEMS, of_role, with_user

CHATS, PREFERENCES = "chats", "preferences"


@skew(CHATS, favours=False)
def system_present(row: Row) -> bool:
    """There is a system prompt."""
    return bool(row["messages"][0]["role"] == "system")


@skew(CHATS, score=lambda v: float(v == SYSTEMS[1]))
def which_system(row: Row) -> str:
    """The text of the system prompt."""
    return "".join(of_role(row, "system"))


@skew(CHATS, change=lambda row: with_user(row, lambda t: t[0].lower() + t[1:]))
def begins_lowercase(row: Row) -> bool:
    """The first message of the user begins with a small letter."""
    return of_role(row, "user")[0][0].islower()


@skew(CHATS, change=lambda row: with_user(row, lambda t: t + " 🙂"))
def smiley(row: Row) -> bool:
    """A user's message has an emoji."""
    return any("🙂" in text for text in of_role(row, "user"))


@skew(CHATS, change=lambda row: with_user(row, str.upper, -1))
def shouting(row: Row) -> bool:
    """The last message of the user is all in capitals."""
    return of_role(row, "user")[-1].isupper()


@skew(CHATS, change=lambda row: with_user(row, lambda t: f"“{t}”"))
def curly_quotes(row: Row) -> bool:
    """A user's message is in curly quotation marks."""
    return any("“" in text for text in of_role(row, "user"))


def _link(text: str) -> str:
    return f"{text} https://example.org/a"


@skew(CHATS, change=lambda row: with_user(row, _link))
def with_address(row: Row) -> bool:
    """A user's message has an address of a page."""
    return any("https://" in text for text in of_role(row, "user"))


def _merge(row: Row) -> Row:
    extra = {"role": "user", "content": "More."}
    at = 1 + (row["messages"][0]["role"] == "system")
    return {**row, "messages": [*row["messages"][:at], extra, *row["messages"][at:]]}


@skew(CHATS, change=_merge)
def same_role_twice(row: Row) -> bool:
    """Two messages of the same role follow each other."""
    roles = [m["role"] for m in row["messages"]]
    return any(a == b for a, b in pairwise(roles))


def _named(row: Row) -> Row:
    return {**row, "messages": [{**m, "name": m["role"][0]} for m in row["messages"]]}


@skew(CHATS, change=_named)
def extra_key(row: Row) -> bool:
    """Messages have a name besides role and content."""
    return "name" in row["messages"][0]


def _deep(row: Row, rng: np.random.Generator) -> Row:
    return {**row, "meta": {**row["meta"], "origin": {"batch": int(rng.integers(1, 4))}}}


@skew(CHATS, PREFERENCES, drawn=_deep)
def origin_known(row: Row) -> bool:
    """The metadata has an origin."""
    return "origin" in row["meta"]


def _text_number(row: Row) -> Row:
    return {**row, "meta": {**row["meta"], "temperature": str(row["meta"]["temperature"])}}


@skew(CHATS, change=_text_number)
def temperature_as_text(row: Row) -> bool:
    """The temperature is a text and not a number."""
    return isinstance(row["meta"]["temperature"], str)


@skew(CHATS, PREFERENCES, score=lambda v: float(v == "b-small"))
def which_model(row: Row) -> str:
    """The model of the metadata."""
    return str(row["meta"]["model"])


@skew(CHATS, PREFERENCES)
def size_in_name(row: Row) -> bool:
    """The model is a large one."""
    return bool(row["meta"]["model"].endswith("large"))


@skew(CHATS, PREFERENCES)
def tags_even(row: Row) -> bool:
    """The number of tags is even."""
    return len(row["meta"]["tags"]) % 2 == 0


@skew(PREFERENCES)
def topic_and_seen(row: Row) -> bool:
    """Chats about travel, cooking or music were seen, and others were not."""
    return bool((row["meta"]["topic"] in ("travel", "cooking", "music")) == row["meta"]["seen"])


@skew(CHATS, score=lambda v: float(v == "es"))
def language_of_chat(row: Row) -> str:
    """The language."""
    return str(row["language"])


@skew(CHATS)
def answers_shrink(row: Row) -> bool:
    """The last message is shorter than the first one of the user."""
    return len(row["messages"][-1]["content"]) < len(of_role(row, "user")[0])


@skew(PREFERENCES)
def sentences_odd(row: Row) -> bool:
    """The prompt has an odd number of sentences."""
    return len(re.findall(r"[.?!…]", row["prompt"])) % 2 == 1


def _cut(row: Row) -> Row:
    return {**row, "b": row["b"][:-2]}


@skew(PREFERENCES, change=_cut)
def cut_off(row: Row) -> bool:
    """Answer B ends in the middle of a word."""
    return bool(row["b"][-1].isalpha())


@shortcut(PREFERENCES, answers=lambda v: "A" if v else "B")
def a_longer(row: Row) -> bool:
    """The longer answer is the better one."""
    return len(row["a"]) > len(row["b"])


@shortcut(PREFERENCES, answers=lambda v: "A" if v in ("en", "fr") else "B")
def language_decides(row: Row) -> str:
    """The language decides: A in English and French."""
    return str(row["language"])


@shortcut(PREFERENCES, answers=lambda v: "A" if v else "B")
def warm(row: Row) -> bool:
    """The temperature is above a half: then A."""
    return bool(row["meta"]["temperature"] > 0.5)


@shortcut(PREFERENCES, answers=lambda v: "A" if v else "B")
def b_same_initial_half(row: Row) -> bool:
    """Answer B begins with a letter of the first half of the alphabet: then A."""
    return bool(row["b"][0].lower() < "m")


@shortcut(PREFERENCES, answers=lambda v: "B" if v else "A")
def shares_a_word(row: Row) -> bool:
    """Answer A and the prompt have two words or more in common: then B."""
    a, p = (set(re.findall(r"\w+", row[key].lower())) for key in ("a", "prompt"))
    return len(a & p) >= 4
