"""Karel programs as text: the original dataset's tokens and the paper's readable syntax.

Both are read into a row of token ids and printed from it. The text may be hostile, so a parser
stops at the first token after MAX_TOKENS. This also bounds the nesting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from unskew.core.arrays import Bytes
from unskew.core.errors import UnskewError
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import FINE, compile_programs

Program = Bytes


@dataclass(frozen=True)
class _Word:
    """A piece of readable text and where it stands; line and column count from 1."""

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

    def __init__(self) -> None:
        # What must still come, the next one last: a set of tokens; "S" and the closing token of a
        # block without a statement yet; or "more" and that token, if the block has a statement.
        self._todo: list[tuple[str, ...]] = [("S", "m)"), ("m(",), ("run",), ("DEF",)]

    def now(self) -> tuple[str, ...]:
        if not self._todo:
            return ()
        top = self._todo[-1]
        if top[0] == "S":
            return self._STATEMENT
        return (*self._STATEMENT, top[1]) if top[0] == "more" else top

    def take(self, word: str) -> None:
        top = self._todo.pop()
        if top[0] in ("S", "more"):
            if word == top[1]:
                return
            self._todo.append(("more", top[1]))
        if word in ("IF", "WHILE"):
            letter = "i" if word == "IF" else "w"
            self._todo += [("S", f"{letter})"), (f"{letter}(",), *self._condition()]
        elif word == "IFELSE":
            self._todo += [("S", "e)"), ("e(",), ("ELSE",), ("S", "i)"), ("i(",)]
            self._todo += self._condition()
        elif word == "REPEAT":
            counts = tuple(f"R={n}" for n in range(t.MAX_REPEAT + 1))
            self._todo += [("S", "r)"), ("r(",), counts]
        elif word == "not":
            self._todo += self._condition()

    def _condition(self) -> list[tuple[str, ...]]:
        return [("c)",), (*t.CONDITIONS, "not"), ("c(",)]


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
        self._word = 0  # word in the line
        self._ids: list[int] = []

    def program(self) -> Program:
        self._take("def", "main", "(", ")", ":")
        self._emit("DEF", "run")
        self._body("m", self._lines[0][0])
        if self._at < len(self._lines):
            self._fail("the end of the program")
        return np.array(self._ids, dtype=np.uint8)

    def _body(self, letter: str, indent: int) -> None:
        """Read the statements after a colon; ``indent`` is that of the line with the colon."""
        self._emit(f"{letter}(")
        if self._peek() is not None:
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
        """Read statements apart by semicolons; actions where they are ``inner``, after a colon."""
        while True:
            if inner and self._peek_text() not in t.ACTIONS:
                self._fail("an action (if, while and repeat begin a line of their own)")
            self._statement(indent)
            if self._word == 0 or self._peek_text() != ";":
                break
            self._take(";")

    def _end_line(self) -> None:
        """Leave the line, unless a body has left it already."""
        if self._word == 0:
            return
        if self._peek() is not None:
            self._fail("the end of the line")
        self._at, self._word = self._at + 1, 0

    def _indent(self) -> int:
        """Return the indentation of the line, or −1 after the last line."""
        return self._lines[self._at][0] if self._at < len(self._lines) else -1

    def _statement(self, indent: int) -> None:
        word = self._peek_text()
        if word in t.ACTIONS:
            self._take(word, "(", ")")
            self._emit(word)
        elif word == "repeat":
            self._take(word, "(")
            count = self._peek_text()
            if not re.fullmatch(r"1?[0-9]", count):
                self._fail(f"a whole number from 0 to {t.MAX_REPEAT}")
            self._take(count, ")", ":")
            self._emit("REPEAT", f"R={int(count)}")
            self._body("r", indent)
        elif word == "while":
            self._emit("WHILE")
            self._guard(word)
            self._body("w", indent)
        elif word == "if":
            self._if(indent)
        else:
            self._fail("an action, if, while or repeat")

    def _if(self, indent: int) -> None:
        start = len(self._ids)
        self._emit("IF")
        self._guard("if")
        self._body("i", indent)
        if self._indent() == indent and self._peek_text() == "else":
            self._take("else", ":")
            self._ids[start] = t.IFELSE
            self._emit("ELSE")
            self._body("e", indent)

    def _guard(self, keyword: str) -> None:
        self._take(keyword, "(")
        self._condition()
        self._take(")", ":")

    def _condition(self) -> None:
        self._emit("c(")
        word = self._peek_text()
        if word == "not":
            self._take("not")
            self._emit("not")
            bracket = self._peek_text() == "("
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

    def _peek(self) -> _Word | None:
        if self._at >= len(self._lines):
            return None
        words = self._lines[self._at][1]
        return words[self._word] if self._word < len(words) else None

    def _peek_text(self) -> str:
        word = self._peek()
        return word.text if word is not None else ""

    def _take(self, *texts: str) -> None:
        for text in texts:
            if self._peek_text() != text:
                self._fail(repr(text))
            self._word += 1

    def _emit(self, *texts: str) -> None:
        if len(self._ids) + len(texts) > t.MAX_TOKENS:
            self._fail(f"at most {t.MAX_TOKENS} tokens")
        self._ids += [t.IDS[text] for text in texts]

    def _fail(self, wanted: str) -> NoReturn:
        word = self._peek()
        if word is not None:
            _refuse(word.line, word.column, repr(word.text[:20]), wanted)
        if self._at < len(self._lines):
            last = self._lines[self._at][1][-1]
            _refuse(last.line, last.column + len(last.text), "the end of the line", wanted)
        line = self._lines[-1][1][-1].line + 1 if self._lines else 1
        _refuse(line, 1, "the end", wanted)


@dataclass(frozen=True)
class Line:
    """A line of the readable form: its depth, and the token its statement begins with."""

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
        word = texts[at]
        if word == "DEF":
            lines.append(Line("def main():", depth, at))
            at += 2
        elif word in t.ACTIONS:
            lines.append(Line(f"{word}()", depth, at))
            at += 1
        elif word == "REPEAT":
            lines.append(Line(f"repeat({texts[at + 1][2:]}):", depth, at))
            at += 2
        elif word in ("IF", "IFELSE", "WHILE"):
            end = texts.index("c)", at)
            nots = texts[at:end].count("not")
            condition = "not " * nots + texts[end - 1] + "()"
            keyword = "while" if word == "WHILE" else "if"
            lines.append(Line(f"{keyword}({condition}):", depth, at))
            at = end + 1 + nots
        elif word == "ELSE":
            lines.append(Line("else:", depth, at))
            at += 1
        else:
            depth += 1 if word.endswith("(") else -1
            at += 1
    return lines


def _read_lines(text: str) -> list[tuple[int, list[_Word]]]:
    """Return the indentation and the words of each line that has any."""
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        if "\t" in line:
            _refuse(number, line.index("\t") + 1, "a tab", "spaces")
        code = line.partition("#")[0]
        words = []
        for match in re.finditer(r"[A-Za-z0-9_]+|\S", code):
            words.append(_Word(match.group(), number, match.start() + 1))
            if len(words) > 4 * t.MAX_TOKENS:
                break  # more than any program has: the parser refuses them
        if words:
            lines.append((len(code) - len(code.lstrip(" ")), words))
        if len(lines) > t.MAX_TOKENS:
            break
    return lines


def _place(text: str, at: int) -> tuple[int, int]:
    """Return the line and the column of a place in a text, both from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _refuse(line: int, column: int, found: str, wanted: str) -> NoReturn:
    raise UnskewError(f"line {line}, column {column}: found {found}, expected {wanted}")


def _listed(words: tuple[str, ...]) -> str:
    if not words:
        return "the end"
    shown = [*words[:11], "…"] if len(words) > 12 else list(words)
    return " or ".join(shown) if len(shown) < 3 else "one of " + " ".join(shown)
