"""Paths and measures in the slowest way: one row at a time, one character at a time."""

import datetime
import json
import math


def value(row, name):
    """Return what a name means in a row whose keys hold no dots, brackets or parentheses."""
    if name.endswith(")"):
        measure, inside = name[:-1].split("(", 1)
        path, _, label = inside.partition(", ")
        return MEASURES[measure](value(row, path), *([label] if label else []))
    here, word, steps = row, "", []
    for character in name:
        if character in ".[]":
            steps += [word] if word else []
            word = "[" if character == "[" else ""
        else:
            word += character
    steps += [word] if word else []
    for step in steps:
        if isinstance(here, str):
            here = opened(here)
        if step.startswith("["):
            here = item(here, int(step[1:]))
        else:
            here = here.get(step) if isinstance(here, dict) else None
    return None if isinstance(here, float) and math.isnan(here) else here


def item(items, index):
    if not isinstance(items, list):
        return None
    for place, value_there in enumerate(items):
        if place in (index, index + len(items)):
            return value_there
    return None


def opened(text):
    try:
        inside = json.loads(text)
    except ValueError:
        return None
    return inside if isinstance(inside, (dict, list)) else None


def texts(held):
    """Return all texts of messages, parts or a text; None if there can be none."""
    if isinstance(held, str):
        return [held]
    if isinstance(held, dict):
        for key in ("content", "value", "text"):
            if held.get(key) is not None:
                return texts(held[key])
        return None
    if isinstance(held, list):
        every = [texts(one) for one in held]
        if all(one is None for one in every):
            return [] if all(one is None or isinstance(one, dict) for one in held) else None
        return [text for one in every for text in one or []]
    return None


def characters(held):
    every = texts(held)
    return None if every is None else sum(1 for text in every for _ in text)


def words(held):
    every = texts(held)
    if every is None:
        return None
    starts = 0
    for text in every:
        before = " "
        for character in text:
            starts += before.isspace() and not character.isspace()
            before = character
    return starts


def as_list(held):
    held = opened(held) if isinstance(held, str) else held
    return held if isinstance(held, list) else None


def count(held):
    items = as_list(held)
    return None if items is None else len(items)


def role(message):
    if message is None:
        return None
    return message.get("role") if message.get("role") is not None else message.get("from")


def messages(held):
    items = as_list(held)
    if items is None or any(not isinstance(one, dict) for one in items if one is not None):
        return None
    there = [one for one in items if one is not None]
    return items if not there or any(role(one) is not None for one in there) else None


def turns(held):
    items = messages(held)
    return None if items is None else len(items)


def roles(held):
    items = messages(held)
    if items is None:
        return None
    names = []
    for name in map(role, items):
        if name and name not in names:
            names.append(name)
    return " ".join(names)


def last_role(held):
    items = messages(held)
    return role(items[-1]) if items else None


def has(held, label):
    items = as_list(held)
    return None if items is None else any(str(one) == label for one in items if one is not None)


def day(held):
    try:
        return datetime.date.fromisoformat(held[:10]) if isinstance(held, str) else None
    except ValueError:
        return None


MEASURES = {
    "characters": characters,
    "words": words,
    "count": count,
    "turns": turns,
    "roles": roles,
    "last_role": last_role,
    "has": has,
    "year": lambda held: day(held).year if day(held) else None,
    "month": lambda held: day(held).month if day(held) else None,
    "weekday": lambda held: day(held).isoweekday() if day(held) else None,
    "hour": lambda held: None,
}
