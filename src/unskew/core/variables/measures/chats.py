"""Measures of messages: who says how much, and how each role begins."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from unskew.core.variables.measures.basic import TEXTS, are_messages, characters, role_of, words
from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.measures.text import Text
from unskew.core.variables.path import is_list


class Chat:
    """The messages of one chat: a role and a content for each."""

    def __init__(self, messages: Any) -> None:
        """Take the messages; a missing one does not count."""
        self.messages = [message for message in messages if message is not None]
        self.roles = [role_of(message) for message in self.messages]

    def of(self, role: str) -> list[Any]:
        """Return the messages of a role."""
        return [m for m, other in zip(self.messages, self.roles, strict=True) if other == role]


def chat_of(value: Any) -> Chat | None:
    """Return the view of messages; None for another value."""
    return Chat(value) if is_list(value) and are_messages(value) else None


def content(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message; None if it is held in parts."""
    text = next((message[key] for key in TEXTS if message.get(key) is not None), None)
    return text if isinstance(text, str) else None


def _first_word(chat: Chat, role: str) -> str | None:
    texts = [text for text in map(content, chat.of(role)) if text]
    return Text(texts[0]).names[0][:60] if texts and Text(texts[0]).names else None


def _longest_turn(chat: Chat) -> int:
    return max((words(message) or 0 for message in chat.messages), default=0)


def _of(name: str, doc: str, of: Any, **more: Any) -> Measure:
    return Measure(name, doc, "messages", of, chat_of, on_json=True, **more)


def _of_role(name: str, doc: str, of: Any) -> Measure:
    return _of(name, doc, of, takes="text", example=f"{name}(messages, user)")


MEASURES = (
    _of("first_role", "role of the first message", lambda c: c.roles[0] if c.roles else None),
    _of(
        "alternate",
        "yes or no: does each message have another role than the one before",
        lambda c: all(a != b for a, b in pairwise(c.roles)),
    ),
    _of("longest_turn", "words of the longest message", _longest_turn),
    _of_role("turns_of", "number of messages of {!r}", lambda c, role: len(c.of(role))),
    _of_role("words_of", "number of words of {!r}", lambda c, role: words(c.of(role))),
    _of_role(
        "characters_of", "number of characters of {!r}", lambda c, role: characters(c.of(role))
    ),
    _of_role("first_word_of", "first word of {!r}", _first_word),
)
