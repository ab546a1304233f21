"""Karel programs as text: the original dataset's tokens and the paper's readable syntax.

Both are read into a row of token ids and printed from it. The text may be hostile, so a parser
stops at the first token after MAX_TOKENS. This also bounds the nesting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from unskew.core.arrays import Bytes
from unskew.core.errors import UnskewError
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import FINE, compile_programs

Program = Bytes
END = -1  # in place of an indentation, after the last line


@dataclass(frozen=True)
class _Word:
    """A word of readable text and its place; line and column count from 1."""

    text: str
    line: int
    column: int


def parse(text: str) -> Program:
    """Return the program of a text, which is readable or has the tokens of the dataset."""
    if not isinstance(text, str):
        raise UnskewError(f"a program is {type(text).__name__}; give text")
    words = text.split(None, 1)
    return parse_tokens(text) if words and words[0] == "DEF" else parse_readable(text)


def parse_tokens(text: str) -> Program:
    """Read the dataset's form, `DEF run m( … m)`."""
    ids: list[int] = []
    expected = _Expected()
    for match in re.finditer(r"\S+", text):
        word = match.group()
        if len(ids) == t.MAX_TOKENS:
            _refuse(*_place(text, match.start()), "more", f"at most {t.MAX_TOKENS} tokens")
        wanted = expected.now()
        if word not in wanted:
            _refuse(*_place(text, match.start()), repr(word[:20]), _listed(wanted))
        expected.take(word)
        ids.append(t.IDS[word])
    if expected.now():
        _refuse(*_place(text, len(text)), "the end", _listed(expected.now()))
    return np.array(ids, dtype=np.uint8)


def to_tokens(program: Program) -> str:
    """Return a program in the tokens of the original dataset."""
    return " ".join(t.to_texts(program))


class _Expected:
    """The tokens that may come next by the grammar; ``take`` reads one of them."""

    _STATEMENT = (*t.ACTIONS, "IF", "IFELSE", "WHILE", "REPEAT")
    _CONDITION = (("c)",), (*t.CONDITIONS, "not"), ("c(",))
    _COUNTS = tuple(f"R={n}" for n in range(t.MAX_REPEAT + 1))
    # What must come after a token, the next one last: a set of tokens; "S" and the closing token
    # of a block without a statement yet; or "more" and that token, if the block has a statement.
    _AFTER: ClassVar[dict[str, tuple[tuple[str, ...], ...]]] = {
        "IF": (("S", "i)"), ("i(",), *_CONDITION),
        "WHILE": (("S", "w)"), ("w(",), *_CONDITION),
        "IFELSE": (("S", "e)"), ("e(",), ("ELSE",), ("S", "i)"), ("i(",), *_CONDITION),
        "REPEAT": (("S", "r)"), ("r(",), _COUNTS),
        "not": _CONDITION,
    }

    def __init__(self) -> None:
        self._todo: list[tuple[str, ...]] = [("S", "m)"), ("m(",), ("run",), ("DEF",)]

    def now(self) -> tuple[str, ...]:
        top = self._todo[-1] if self._todo else ()
        if top[:1] == ("S",):
            return self._STATEMENT
        return (*self._STATEMENT, top[1]) if top[:1] == ("more",) else top

    def take(self, word: str) -> None:
        top = self._todo.pop()
        if top[0] in ("S", "more"):
            if word == top[1]:
                return
            self._todo.append(("more", top[1]))
        self._todo += self._AFTER.get(word, ())


def parse_readable(text: str) -> Program:
    """Read the paper's form: `def main():`, then indented statements.

    Actions may also follow a colon on the same line, with semicolons between them. No other
    statement may, as in Python: an `else` or a semicolon after it could be read in two ways.
    """
    return _Readable(text).program()


class _Readable:
    """A recursive-descent parser; the token limit bounds its recursion."""

    def __init__(self, text: str) -> None:
        self._lines = _read_lines(text)
        self._at = 0  # line
        self._next = 0  # word in the line
        self._ids: list[int] = []

    def program(self) -> Program:
        self._take("def", "main", "(", ")", ":")
        self._emit("DEF", "run")
        self._body("m", self._lines[0][0])
        if self._indent() != END:
            self._fail("the end of the program")
        return np.array(self._ids, dtype=np.uint8)

    def _body(self, letter: str, indent: int) -> None:
        """Read the statements after a colon; ``indent`` is that of the line with the colon."""
        self._emit(f"{letter}(")
        if self._text():
            self._line(indent, inner=letter != "m")
            self._end_line()
        else:
            self._end_line()
            if self._indent() <= indent:
                self._fail("an indented statement")
            self._block(self._indent())
        self._emit(f"{letter})")

    def _block(self, indent: int) -> None:
        while self._indent() == indent:
            self._line(indent)
            self._end_line()
        if self._indent() > indent:
            self._fail(f"an indentation of {indent}")

    def _line(self, indent: int, *, inner: bool = False) -> None:
        """Read statements between semicolons; ``inner`` ones follow a colon and must be actions."""
        while True:
            if inner and self._text() not in t.ACTIONS:
                self._fail("an action (if, while and repeat begin a line of their own)")
            self._statement(indent)
            if self._next == 0 or self._text() != ";":
                break
            self._take(";")

    def _end_line(self) -> None:
        """Leave the line, unless a body has left it already."""
        if self._next == 0:
            return
        if self._text():
            self._fail("the end of the line")
        self._at, self._next = self._at + 1, 0

    def _statement(self, indent: int) -> None:
        keyword = self._text()
        if keyword in t.ACTIONS:
            self._take(keyword, "(", ")")
            self._emit(keyword)
        elif keyword == "repeat":
            self._take(keyword, "(")
            count = self._text()
            if not re.fullmatch(r"1?[0-9]", count):
                self._fail(f"a whole number from 0 to {t.MAX_REPEAT}")
            self._take(count, ")", ":")
            self._emit("REPEAT", f"R={int(count)}")
            self._body("r", indent)
        elif keyword in ("while", "if"):
            start = len(self._ids)
            self._emit(keyword.upper())
            self._take(keyword, "(")
            self._condition()
            self._take(")", ":")
            self._body(keyword[0], indent)
            if keyword == "if" and self._indent() == indent and self._text() == "else":
                self._take("else", ":")
                self._ids[start] = t.IFELSE
                self._emit("ELSE")
                self._body("e", indent)
        else:
            self._fail("an action, if, while or repeat")

    def _condition(self) -> None:
        self._emit("c(")
        word = self._text()
        if word == "not":
            self._take("not")
            self._emit("not")
            bracket = self._text() == "("
            if bracket:
                self._take("(")
            self._condition()
            if bracket:
                self._take(")")
        elif word in t.CONDITIONS:
            self._take(word, "(", ")")
            self._emit(word)
        else:
            self._fail(f"not, {', '.join(t.CONDITIONS)}")
        self._emit("c)")

    def _indent(self) -> int:
        return self._lines[self._at][0]

    def _text(self) -> str:
        """Return the next word of the line, or "" at its end."""
        return self._lines[self._at][1][self._next].text

    def _take(self, *texts: str) -> None:
        for text in texts:
            if self._text() != text:
                self._fail(repr(text))
            self._next += 1

    def _emit(self, *texts: str) -> None:
        if len(self._ids) + len(texts) > t.MAX_TOKENS:
            self._fail(f"at most {t.MAX_TOKENS} tokens")
        self._ids += [t.IDS[text] for text in texts]

    def _fail(self, wanted: str) -> NoReturn:
        indent, words = self._lines[self._at]
        word = words[self._next]
        end = "the end" if indent == END else "the end of the line"
        _refuse(word.line, word.column, repr(word.text[:20]) if word.text else end, wanted)


@dataclass(frozen=True)
class Line:
    """A line of the readable form: its depth, and the index of its statement's first token."""

    text: str
    depth: int
    place: int


def to_readable(program: Program, indent: int = 4) -> str:
    """Return a program as readable text, as the paper prints it."""
    return "\n".join(" " * indent * line.depth + line.text for line in readable_lines(program))


def readable_lines(program: Program) -> list[Line]:
    """Return the lines of the paper's form, each without its indentation."""
    if compile_programs(program.reshape(1, -1)).status[0] != FINE:
        raise UnskewError(f"{to_tokens(program)!r} is no program; parse it to see why")
    lines: list[Line] = []
    texts = t.to_texts(program)
    depth, at = 0, 0
    while at < len(texts):
        word, size = texts[at], 1
        line = ""
        if word == "DEF":
            line, size = "def main():", 2
        elif word in t.ACTIONS:
            line = f"{word}()"
        elif word == "REPEAT":
            line, size = f"repeat({texts[at + 1][2:]}):", 2
        elif word in ("IF", "IFELSE", "WHILE"):
            end = texts.index("c)", at)
            nots = texts[at:end].count("not")
            keyword = "while" if word == "WHILE" else "if"
            line = f"{keyword}({'not ' * nots}{texts[end - 1]}()):"
            size = end + 1 + nots - at
        elif word == "ELSE":
            line = "else:"
        else:
            depth += 1 if word.endswith("(") else -1
        if line:
            lines.append(Line(line, depth, at))
        at += size
    return lines


def _read_lines(text: str) -> list[tuple[int, list[_Word]]]:
    """Return the indentation and the words of each line that has any.

    An empty word follows the last word of a line. A line of an empty word ends the text.
    """
    lines = []
    last = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if "\t" in line:
            _refuse(number, line.index("\t") + 1, "a tab", "spaces")
        code = line.partition("#")[0].rstrip()
        words = []
        for match in re.finditer(r"[A-Za-z0-9_]+|\S", code):
            words.append(_Word(match.group(), number, match.start() + 1))
            if len(words) > 4 * t.MAX_TOKENS:
                break  # more than any program has: the parser refuses them
        if words:
            last = number
            words.append(_Word("", number, len(code) + 1))
            lines.append((len(code) - len(code.lstrip(" ")), words))
        if len(lines) > t.MAX_TOKENS:
            break
    return [*lines, (END, [_Word("", last + 1, 1)])]


def _place(text: str, at: int) -> tuple[int, int]:
    """Return the line and the column of a place in a text, both from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _refuse(line: int, column: int, actual: str, wanted: str) -> NoReturn:
    raise UnskewError(f"line {line}, column {column}: found {actual}, expected {wanted}")


def _listed(words: tuple[str, ...]) -> str:
    if not words:
        return "the end"
    shown = [*words[:11], "…"] if len(words) > 12 else list(words)
    return " or ".join(shown) if len(shown) < 3 else "one of " + " ".join(shown)
