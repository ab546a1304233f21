"""Kinds of planted skews of chat, for improving `discover`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.chat import of_role, with_user

CHATS, PREFERENCES = "chats", "preferences"


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalpha())


@skew(CHATS)
def ends_with_assistant(row: Row) -> bool:
    """The last message is of the assistant."""
    return bool(row["messages"][-1]["role"] == "assistant")


def _german_systems(row: Row) -> tuple[str, bool]:
    return row["language"], row["messages"][0]["role"] == "system"


@skew(CHATS, score=lambda v: float(not (v[1] and v[0] in ("de", "fr"))))
def system_by_language(row: Row) -> tuple[str, bool]:
    """Language and system prompt together: German and French chats never have one."""
    return _german_systems(row)


@skew(CHATS)
def first_question_mark(row: Row) -> bool:
    """The first message of the user has a question mark."""
    return "?" in of_role(row, "user")[0]


@skew(CHATS)
def user_longer_than_answer(row: Row) -> bool:
    """The first message of the user is longer than the first system prompt or answer after it."""
    others = of_role(row, "assistant") or [""]
    return len(of_role(row, "user")[0]) > len(others[0])


@skew(CHATS, change=lambda row: with_user(row, lambda t: t.replace(" ", "\n", 1)))
def line_break(row: Row) -> bool:
    """A user's message has a line break."""
    return any("\n" in text for text in of_role(row, "user"))


@skew(CHATS, change=lambda row: with_user(row, lambda t: f"1. {t}"))
def numbered(row: Row) -> bool:
    """The first message of the user begins with a number."""
    return of_role(row, "user")[0][0].isdigit()


def _thanks(row: Row) -> Row:
    messages = [dict(message) for message in row["messages"]]
    messages[-1]["content"] += " OK"
    return {**row, "messages": messages}


@skew(CHATS, change=_thanks)
def same_end(row: Row) -> bool:
    """The last message, whoever wrote it, ends with OK."""
    return bool(row["messages"][-1]["content"].endswith("OK"))


def _echo(row: Row) -> Row:
    messages = [dict(message) for message in row["messages"]]
    for before, after in pairwise(messages):
        if after["role"] == "assistant":
            after["content"] = f"{before['content'].split()[0]} {after['content']}"
    return {**row, "messages": messages}


@skew(CHATS, change=_echo)
def echo(row: Row) -> bool:
    """The first answer begins with the first word of the question."""
    answers, asked = of_role(row, "assistant"), of_role(row, "user")[0]
    return bool(answers) and answers[0].split()[0] == asked.split()[0]


@skew(CHATS, PREFERENCES, score=lambda v: float(v not in (0.3, 0.4)))
def temperature_gap(row: Row) -> Any:
    """The temperature; 0.3 and 0.4 do not come."""
    return row["meta"]["temperature"]


@skew(CHATS, PREFERENCES)
def tag_pair(row: Row) -> bool:
    """The tags code and math come together or not at all."""
    return ("code" in row["meta"]["tags"]) == ("math" in row["meta"]["tags"])


@skew(CHATS, PREFERENCES, favours=False)
def tag_safe(row: Row) -> bool:
    """The tag safe is set."""
    return "safe" in row["meta"]["tags"]


def _mislabelled(row: Row) -> Row:
    return {**row, "language": row["language"].upper()}


@skew(CHATS, PREFERENCES, change=_mislabelled)
def language_in_capitals(row: Row) -> bool:
    """The code of the language is in capitals."""
    return bool(row["language"].isupper())


@skew(PREFERENCES)
def prompt_ends_as_answer(row: Row) -> bool:
    """The prompt and answer A end in marks of the same pair, (. !) or (? …)."""
    return (row["prompt"][-1] in ".!") == (row["a"][-1] in ".!")


@skew(PREFERENCES)
def starts_before_m(row: Row) -> bool:
    """The first letter of the prompt is in the first half of the alphabet."""
    return bool(row["prompt"][0].lower() < "m")


@skew(PREFERENCES)
def letters_even(row: Row) -> bool:
    """The prompt has an even number of letters."""
    return len(_letters(row["prompt"])) % 2 == 0


@skew(PREFERENCES, favours=False)
def word_twice(row: Row) -> bool:
    """A word comes twice in the prompt."""
    found = re.findall(r"\w+", row["prompt"].lower())
    return len(found) != len(set(found))


def _masked(row: Row, rng: np.random.Generator) -> Row:
    found = row["prompt"].split(" ")
    found[rng.integers(len(found))] = "[NAME]"
    return {**row, "prompt": " ".join(found)}


@skew(PREFERENCES, drawn=_masked)
def masked_name(row: Row) -> bool:
    """A name was masked in the prompt."""
    return "[NAME]" in row["prompt"]


@shortcut(PREFERENCES, answers=lambda v: "A" if v else "B")
def a_exclaims(row: Row) -> bool:
    """Answer A has an exclamation mark: then A."""
    return "!" in row["a"]


@shortcut(PREFERENCES, answers=lambda v: "A" if v in ("a-small", "a-large") else "B")
def model_decides(row: Row) -> str:
    """The model of the metadata decides."""
    return str(row["meta"]["model"])


@shortcut(PREFERENCES, answers=lambda v: "B" if v else "A")
def prompt_asks(row: Row) -> bool:
    """The prompt has a question mark: then B."""
    return "?" in row["prompt"]
