"""Karel problems as text files: the real-world set (section 5.2) and anyone's own.

The problems in ``problems/`` are ours, one file each. The paper's set comes from Stanford's CS106A
and the Hour of Code, but little more than the names survives. A file begins with lines that start
with ``#`` and say what the task is. Then come sections, each below a line of its own:
``== program`` with a solution, which may be left out, and for each pair ``== before`` and
``== after`` with pictures of worlds. If there is a program, every ``== after`` may be left out:
the program is run to find the world after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from unskew.core.arrays import Bytes
from unskew.core.errors import UnskewError
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM
from unskew.domains.karel.language.syntax import Program, parse, to_readable, to_tokens
from unskew.domains.karel.running.interpreter import Status, run
from unskew.domains.karel.world import HEIGHT, WALL, WIDTH, World, from_picture, grid_of, to_picture

HEADER = "=="  # begins no line of a program and no row of a picture
SECTIONS = ("program", "before", "after")


@dataclass(frozen=True)
class Problem:
    """A task: what to do, packed worlds before and after (k, 260), and its program, if known."""

    name: str
    doc: str
    program: Program | None
    inputs: Bytes
    outputs: Bytes


@dataclass(frozen=True)
class _Section:
    """A part of a file: the number of its header's line, and the lines below the header."""

    file: str
    kind: str
    line: int
    body: list[str]

    def __str__(self) -> str:
        return f"{HEADER} {self.kind}"

    def refuse(self, actual: str, expected: str, advice: str) -> NoReturn:
        """Refuse the file at this section."""
        _refuse(self.file, self.line, actual, expected, advice)


def problems() -> dict[str, Problem]:
    """Return the problems of the package by name."""
    folder = files(__package__).joinpath("problems")
    texts = sorted((file.name.removesuffix(".txt"), file) for file in folder.iterdir())
    return {name: read_problem(file.read_text(encoding="utf-8"), name) for name, file in texts}


def read_problem(text: str, name: str) -> Problem:
    """Return the problem of a text. Errors call the problem ``name``."""
    lines = text.splitlines()
    headers = [at for at, line in enumerate(lines) if line.startswith(HEADER)]
    doc = _read_doc(lines[: headers[0]] if headers else lines, name)
    sections = list(_sections(lines, headers, name))
    program = None
    if sections and sections[0].kind == "program":
        program = _read_program(sections.pop(0))
    if program is not None and all(section.kind == "before" for section in sections):
        pairs = [_run_on(section, program) for section in sections]
    else:
        pairs = [_read_pair(before, after) for before, after in _paired(sections)]
    if not pairs:
        wanted = f"{HEADER} before, {HEADER} after"
        _refuse(name, len(lines) + 1, "the end", wanted, "give at least one pair of worlds")
    inputs, outputs = (np.stack(worlds) for worlds in zip(*pairs, strict=True))
    return Problem(name, doc, program, inputs, outputs)


def read_text(text: str, name: str) -> list[dict[str, Any]]:
    """Read a text file as rows: a problem, one program, or a program of tokens on each line."""
    lines = [(at, line) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if any(line.startswith(HEADER) for _, line in lines):
        problem = read_problem(text, name)
        row = {INPUTS: problem.inputs.tobytes(), OUTPUTS: problem.outputs.tobytes()}
        return [row if problem.program is None else {PROGRAM: to_tokens(problem.program), **row}]
    if not lines:
        raise UnskewError(f"{name} is empty; write a program or a problem there")
    if all(line.split()[0] == "DEF" for _, line in lines):
        programs = [_parsed(line, f"{name}, line {at}") for at, line in lines]
    else:
        programs = [_parsed(text, name)]
    return [{PROGRAM: to_tokens(program)} for program in programs]


def _parsed(text: str, place: str) -> Program:
    try:
        return parse(text)
    except UnskewError as error:
        raise UnskewError(f"{place}: {error}; correct the program there") from error


def write_problem(problem: Problem) -> str:
    """Return a problem as text, as ``read_problem`` reads it."""
    parts = []
    if problem.doc:
        parts.append("".join(f"# {line}".rstrip() + "\n" for line in problem.doc.splitlines()))
    if problem.program is not None:
        parts.append(f"{HEADER} program\n{to_readable(problem.program)}\n")
    for before, after in zip(problem.inputs, problem.outputs, strict=True):
        parts.append(f"{HEADER} before\n{to_picture(before)}\n")
        parts.append(f"{HEADER} after\n{to_picture(after)}\n")
    return "\n".join(parts)


def _read_doc(lines: list[str], name: str) -> str:
    """Return the text of the lines before the first section."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            advice = f"begin with # what the task is, with {HEADER} a section"
            _refuse(name, number, repr(line[:20]), f"# or {HEADER}", advice)
    return "\n".join(line[1:].strip() for line in lines if line.strip())


def _sections(lines: list[str], headers: list[int], name: str) -> Iterator[_Section]:
    for at, end in pairwise([*headers, len(lines)]):
        kind = lines[at].removeprefix(HEADER).strip()
        section = _Section(name, kind, at + 1, lines[at + 1 : end])
        if kind not in SECTIONS:
            known = ", ".join(f"{HEADER} {known}" for known in SECTIONS)
            section.refuse(repr(lines[at][:20]), known, "name the section one of these")
        if not any(line.strip() for line in section.body):
            wanted = "a program" if kind == "program" else "a picture of a world"
            section.refuse(f"nothing below {section}", wanted, "write one there")
        yield section


def _paired(sections: list[_Section]) -> Iterator[tuple[_Section, _Section]]:
    """Return the sections two by two, before and after in turn."""
    for at, section in enumerate(sections):
        wanted = SECTIONS[1 + at % 2]
        if section.kind != wanted:
            advice = "each pair has both, in this order"
            if section.kind == "program":
                advice = "a program stands once, above the pairs"
            section.refuse(str(section), f"{HEADER} {wanted}", advice)
    if len(sections) % 2:
        last = sections[-1]
        line, advice = last.line + len(last.body) + 1, "draw the world that the last one becomes"
        _refuse(last.file, line, "the end", f"{HEADER} after", advice)
    return zip(sections[::2], sections[1::2], strict=True)


def _read_program(section: _Section) -> Program:
    # The empty lines let the parser count lines as the file does.
    text = "\n" * section.line + "\n".join(section.body)
    return _parsed(text, f"{section.file}, {section}")


def _read_pair(before: _Section, after: _Section) -> tuple[World, World]:
    start, end = _read_world(before), _read_world(after)
    header = f"as in {before} at line {before.line}"
    if start[HEIGHT] != end[HEIGHT] or start[WIDTH] != end[WIDTH]:
        after.refuse(
            f"a world of {end[HEIGHT]} rows and {end[WIDTH]} columns",
            f"{start[HEIGHT]} and {start[WIDTH]}, {header}",
            "no program changes a world's size",
        )
    moved = np.argwhere((grid_of(start) == WALL) != (grid_of(end) == WALL))
    if len(moved):
        row, column = moved[-1].tolist()  # the one that a reader meets first is in the top row
        now, then = ("a wall", "none") if grid_of(end)[row, column] == WALL else ("none", "a wall")
        after.refuse(
            f"{now} in row {int(end[HEIGHT]) - row}, cell {column + 1} of the picture",
            f"{then}, {header}",
            "no program changes walls",
        )
    return start, end


def _run_on(section: _Section, program: Program) -> tuple[World, World]:
    """Return a world and the world that the program makes of it."""
    before = _read_world(section)
    ran = run(program[None], before[None])
    if ran.status[0] != Status.OK:
        why = Status(ran.status[0]).name.lower().replace("_", " ")
        raise UnskewError(
            f"{section.file}, {section} at line {section.line}: the program does not end there "
            f"({why}); give a world on which it does"
        )
    return before, ran.worlds[0]


def _read_world(section: _Section) -> World:
    try:
        return from_picture("\n".join(section.body))
    except UnskewError as error:
        raise UnskewError(f"{section.file}, {section} at line {section.line}: {error}") from error


def _refuse(file: str, line: int, actual: str, expected: str, advice: str) -> NoReturn:
    raise UnskewError(f"{file}, line {line}: found {actual}, expected {expected}; {advice}")
