"""Measures of texts: lengths, characters, words, tokens, brackets, numbers, repeats, lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable
from typing import Any

from unskew.core.variables.measures.lists import Items, items_of, order
from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.measures.text import Text, text_of

_SENTENCE = re.compile(r"[.!?。？！]+(?=\s|$)")
_LETTER = re.compile(r"[^\W\d_]")
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_LONGEST_WORD = 60  # characters of a word that is a value
_TAB = 4  # spaces

LONGEST_PATTERN = 40  # characters of a text that are looked at for how it is written


def _word(words: list[str], at: int) -> str | None:
    """Return one of the words, in lower case and without punctuation around it."""
    if not words:
        return None
    word = words[at].lower()[:_LONGEST_WORD]
    return word.strip(".,;:!?\"'()[]{}«»„“”") or word


def _token(tokens: list[str], at: int) -> str | None:
    return tokens[at][:_LONGEST_WORD] if tokens else None


def kind_of(character: str) -> str:
    """Return what a character is."""
    if character.isalpha():
        return "capital" if character.isupper() else "letter"
    return "digit" if character.isdigit() else "space" if character.isspace() else "sign"


def case(view: Text) -> str | None:
    """Return how the letters of a text are written."""
    text = view.text
    if not any(map(str.isalpha, text)):
        return None
    if text == text.lower():
        return "lower"
    if text == text.upper():
        return "upper"
    rest = text.lstrip("\"'([{ ")
    return "capitalized" if rest[:1].isupper() and rest[1:] == rest[1:].lower() else "mixed"


def script(view: Text) -> str | None:
    """Return the script of the first letter: LATIN, CYRILLIC, CJK."""
    letter = _LETTER.search(view.text)
    return None if letter is None else unicodedata.name(letter[0], "UNKNOWN").partition(" ")[0]


def longest_run(view: Text) -> int:
    """Return how often the same character comes in a row at most."""
    longest = run = 0
    before = ""
    for character in view.text:
        run = run + 1 if character == before else 1
        before, longest = character, max(longest, run)
    return longest


def token_kinds(view: Text) -> str:
    """Return which kinds of tokens there are."""
    kinds = set()
    for token in view.tokens:
        first = token[0]
        kinds.add(
            "numbers"
            if first.isdigit()
            else "words"
            if first.isalnum() or first == "_"
            else "signs"
        )
    return " ".join(sorted(kinds))


def indentation(view: Text) -> int:
    """Return the number of spaces before the line that is farthest to the right."""
    return max((len(space.expandtabs(_TAB)) for space in _INDENT.findall(view.text)), default=0)


def pattern(view: Text) -> str:
    """Return how a text is written: 9 for digits, a and A for letters in a row, a space for some.

    Digits are told one by one, up to four in a row.
    """
    text = view.text[:LONGEST_PATTERN]
    text = re.sub(r"[^\W\d_]+", lambda match: "A" if match[0][0].isupper() else "a", text)
    text = re.sub(r"\d", "9", text)
    return re.sub(r"9{4,}", "9999", re.sub(r"\s+", " ", text))


def which(view: Text, *words: str) -> str | None:
    """Return the one of some words that comes; of several the one that is named first."""
    return next((word for word in words if view.occurrences((word,))), None)


def place(view: Text, word: str) -> int | None:
    """Return how many tokens stand before a word; None where it does not come."""
    tokens = view.folded if word == word.lower() else view.tokens
    return tokens.index(word) if word in tokens else None


def leading_brackets(view: Text) -> int:
    """Return the number of brackets that open at the very start."""
    text = view.text.replace(" ", "")
    return len(text) - len(text.lstrip("([{"))


def trailing_brackets(view: Text) -> int:
    """Return the number of brackets that close at the very end."""
    text = view.text.replace(" ", "")
    return len(text) - len(text.rstrip(")]}"))


def number_order(view: Text) -> str | None:
    """Return whether the numbers go up, down, stay level, or are mixed."""
    return order(Items(view.numbers))


def deeper_side(view: Text) -> str | None:
    """Return which half of the words and numbers stands deeper in brackets."""
    half = len(view.depths) // 2
    if not half:
        return None
    left, right = sum(view.depths[:half]), sum(view.depths[-half:])
    return "left" if left > right else "right" if left < right else "neither"


def _text_or_items(value: Any) -> Text | Items | None:
    return text_of(value) or items_of(value)


def _per(total: float, parts: int) -> float | None:
    return total / parts if parts else None


def _of(name: str, doc: str, of: Callable[..., Hashable], **more: Any) -> Measure:
    return Measure(name, doc, "text", of, text_of, **more)


def _counting(name: str, doc: str, is_one: Callable[[str], bool]) -> Measure:
    return _of(name, doc, lambda t: sum(map(is_one, t.text)))


CHARACTERS = (
    _counting("letters", "number of letters", str.isalpha),
    _counting("capitals", "number of capital letters", str.isupper),
    _counting("figures", "number of characters that are digits", str.isdigit),
    _counting("spaces", "number of spaces and line breaks", str.isspace),
    _of(
        "punctuation",
        "number of characters that are no letter, digit or space",
        lambda t: sum(not (c.isalnum() or c.isspace()) for c in t.text),
    ),
    _counting("non_ascii", "number of characters beyond ASCII", lambda c: c > "\x7f"),
    _of("distinct_characters", "number of different characters", lambda t: len(set(t.text))),
    _of("first_character", "first character", lambda t: t.text[:1] or None),
    _of("last_character", "last character", lambda t: t.text[-1:] or None),
    _of("starts", "kind of the first character", lambda t: kind_of(t.text[0]) if t.text else None),
    _of("ends", "kind of the last character", lambda t: kind_of(t.text[-1]) if t.text else None),
    _of("case", "case: lower, upper, capitalized or mixed", case),
    _of("script", "script of the first letter", script),
    _of("longest_run", "most equal characters in a row", longest_run),
    _of(
        "is_palindrome",
        "yes or no: is it the same backwards",
        lambda t: t.text == t.text[::-1],
    ),
)
WORDS = (
    _of("distinct_words", "number of different words", lambda t: len(set(map(str.lower, t.words)))),
    _of(
        "repeated_words",
        "number of words that came before",
        lambda t: len(t.words) - len(set(map(str.lower, t.words))),
    ),
    _of(
        "mean_word",
        "mean length of the words",
        lambda t: _per(sum(map(len, t.words)), len(t.words)),
    ),
    _of("longest_word", "length of the longest word", lambda t: max(map(len, t.words), default=0)),
    _of(
        "shortest_word", "length of the shortest word", lambda t: min(map(len, t.words), default=0)
    ),
    _of("first_word", "first word", lambda t: _word(t.words, 0)),
    _of("second_word", "second word", lambda t: _word(t.words, 1) if len(t.words) > 1 else None),
    _of("last_word", "last word", lambda t: _word(t.words, -1)),
    _of(
        "in_order",
        "yes or no: are the words in alphabetical order",
        lambda t: t.words == sorted(t.words),
    ),
    _of("sentences", "number of sentences", lambda t: len(_SENTENCE.findall(t.text))),
    _of("lines", "number of lines", lambda t: len(t.text.splitlines())),
    _of(
        "blank_lines",
        "number of blank lines",
        lambda t: sum(not line.strip() for line in t.text.splitlines()),
    ),
    _of(
        "longest_line",
        "length of the longest line",
        lambda t: max(map(len, t.text.splitlines()), default=0),
    ),
    _of("indentation", "deepest indentation, in spaces", indentation),
)
TOKENS = (
    _of("tokens", "number of tokens: words, numbers and signs", lambda t: len(t.tokens)),
    _of("distinct_tokens", "number of different tokens", lambda t: len(set(t.tokens))),
    _of(
        "most_repeated",
        "how often the most frequent token comes",
        lambda t: max(t.counts.values(), default=0),
    ),
    _of(
        "doubled",
        "number of tokens that are equal to the one before",
        lambda t: sum(a == b for a, b in zip(t.tokens, t.tokens[1:], strict=False)),
    ),
    _of("first_token", "first token", lambda t: _token(t.tokens, 0)),
    _of("last_token", "last token", lambda t: _token(t.tokens, -1)),
    _of("token_kinds", "which of words, numbers and signs there are", token_kinds),
    _of("depth", "deepest nesting of brackets", lambda t: t.deepest),
    _of(
        "mean_depth",
        "mean depth of brackets around words and numbers",
        lambda t: _per(sum(t.depths), len(t.depths)),
    ),
    _of("brackets", "number of pairs of brackets", lambda t: t.brackets),
    _of("leading_brackets", "number of brackets that open at the start", leading_brackets),
    _of("trailing_brackets", "number of brackets that close at the end", trailing_brackets),
    _of(
        "depth_without",
        "deepest nesting of brackets, without those after {!r}",
        lambda t, label: t.depth_without(label),
        takes="text",
        example="depth_without(program, c)",
    ),
    _of("operators", "number of operators", lambda t: len(t.operators)),
    _of(
        "operator_kinds", "which operators there are", lambda t: " ".join(sorted(set(t.operators)))
    ),
    _of("first_operator", "first operator", lambda t: _token(t.operators, 0)),
    _of("last_operator", "last operator", lambda t: _token(t.operators, -1)),
    _of("main_operator", "operator that is applied last", Text.main_operator),
    _of("deeper_side", "half that is deeper in brackets: left, right or neither", deeper_side),
    _of("numbers", "number of numbers", lambda t: len(t.numbers)),
    _of("distinct_numbers", "number of different numbers", lambda t: len(set(t.numbers))),
    _of("number_order", "order of the numbers: up, down, level or mixed", number_order),
    _of(
        "longest_number",
        "characters of the longest number",
        lambda t: max((len(str(abs(n))) for n in t.numbers), default=None),
    ),
    _of("even_numbers", "number of even numbers", lambda t: sum(n % 2 == 0 for n in t.numbers)),
    _of(
        "round_numbers",
        "number of numbers that end in 0",
        lambda t: sum(n % 10 == 0 for n in t.numbers),
    ),
    _of(
        "fractions",
        "number of numbers with a point",
        lambda t: sum(isinstance(n, float) for n in t.numbers),
    ),
    _of("first_number", "first number", lambda t: t.numbers[0] if t.numbers else None),
    _of("last_number", "last number", lambda t: t.numbers[-1] if t.numbers else None),
    _of("smallest_number", "smallest number", lambda t: min(t.numbers, default=None)),
    _of("largest_number", "largest number", lambda t: max(t.numbers, default=None)),
    _of("sum_of_numbers", "sum of the numbers", lambda t: sum(t.numbers)),
    _of(
        "contains",
        "yes or no: does it contain {!r}",
        lambda t, word: t.occurrences((word,)) > 0,
        takes="text",
        example="contains(prompt, please)",
    ),
    _of("pattern", "how it is written: 9 for digits, a and A for letters", pattern),
    _of(
        "which",
        "which comes: {}",
        which,
        takes="texts",
        example="which(prompt, plus, minus)",
    ),
    Measure(
        "occurrences",
        "how often {} comes",
        "text or a list",
        lambda view, *words: view.occurrences(words),
        _text_or_items,
        takes="texts",
        example="occurrences(code, for, while)",
    ),
    _of(
        "place",
        "number of tokens before {!r}",
        place,
        takes="text",
        example="place(prompt, not)",
    ),
)
MEASURES = (*CHARACTERS, *WORDS, *TOKENS)
