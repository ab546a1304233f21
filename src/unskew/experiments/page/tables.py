"""Tables of a reproduction as HTML: the paper's number, ours, the difference, the interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from unskew.audits.report.words import shown, some
from unskew.experiments.page.words import (
    LONGEST,
    Cell,
    Result,
    Table,
    decimals,
    difference,
    duration,
    interval,
    missing,
    number,
    outside,
    seeds,
    signed,
)

MOST_GROUPS = 3  # models side by side; more of them go below each other
EVERYWHERE = "all cells"
PAPER, OURS, DIFFERENCE, INTERVAL, COMMON = (  # the first three fit on a phone
    "paper",
    "ours",
    "difference",
    "95 % interval",
    "common programs",
)


def table_html(table: Table) -> str:
    """Return a table of results in a box that scrolls by itself.

    The shorter side goes across, as groups of columns; where both sides are long, every row of
    the table becomes a block of lines.
    """
    rows, columns = list(table["rows"]), list(table["columns"])
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    parts = _parts(table)
    if min(len(rows), len(columns)) > MOST_GROUPS:
        head = _header(["", *parts])
        body = "".join(_block(row, columns, cells, parts, table) for row in rows)
    else:
        flip = len(rows) <= len(columns)
        across, down = (rows, columns) if flip else (columns, rows)
        head = _grouped_header(across, parts)
        lines = [
            _line(
                name,
                [cells.get((group, name) if flip else (name, group)) for group in across],
                parts,
                table,
            )
            for name in down
        ]
        body = f"<tbody>{''.join(lines)}</tbody>"
    note = f'<p class="note">{_note(table)}</p>'
    return note + _boxed(shown(table["title"], LONGEST), head + body, "results")


def _block(
    row: str,
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], Cell],
    parts: Sequence[str],
    table: Table,
) -> str:
    """Return a row of the table as lines; as one, if there is no number in any of them."""
    found = [cells.get((row, column)) for column in columns]
    lines = list(zip(columns, found, strict=True))
    if not any(cell and (cell["ours"] or cell["paper"] is not None) for cell in found):
        lines = [(EVERYWHERE, found[0])]
    head = f'<th scope="rowgroup" colspan="{len(parts) + 1}">{_text(row)}</th>'
    body = "".join(_line(name, [cell], parts, table) for name, cell in lines)
    return f'<tbody><tr class="block">{head}</tr>{body}</tbody>'


def _parts(table: Table) -> list[str]:
    """Return which columns there are: none that would be empty."""
    cells: Sequence[Cell] = table["cells"]
    has_paper = any(cell["paper"] is not None for cell in cells)
    done = [cell["ours"] for cell in cells if cell["ours"] is not None]
    there = {
        PAPER: has_paper,
        OURS: True,
        DIFFERENCE: any(difference(cell, table) is not None for cell in cells),
        INTERVAL: not done
        or any(ours.get("low") is not None or len(ours.get("values") or ()) > 1 for ours in done),
        COMMON: any(ours.get("common") is not None for ours in done),
    }
    return [part for part, is_there in there.items() if is_there]


def _line(name: str, cells: Sequence[Cell | None], parts: Sequence[str], table: Table) -> str:
    numbers = "".join(_numbers(cell, parts, table) for cell in cells)
    return f'<tr><th scope="row"><span class="name">{_text(name)}</span></th>{numbers}</tr>'


def _numbers(cell: Cell | None, parts: Sequence[str], table: Table) -> str:
    """Return the columns of one cell; one that was not run says so over all of them but one."""
    if cell is None:
        return f'<td class="first" colspan="{len(parts)}"><span class="none">–</span></td>'
    first = ' class="number first"'
    if cell["ours"] is None:
        rest = len(parts) - (PAPER in parts)
        said = f'<span class="none">{missing(cell, table)}</span>'
        paper = f"<td{first}>{_number(cell['paper'], table)}</td>" if PAPER in parts else ""
        kind = "" if paper else " first"
        return f'{paper}<td class="number not-run{kind}" colspan="{rest}">{said}</td>'
    texts = [_part(part, cell, table) for part in parts]
    return "".join(
        f"<td{first if i == 0 else _kind(parts[i])}>{text}</td>" for i, text in enumerate(texts)
    )


def _kind(part: str) -> str:
    return ' class="number ours"' if part == OURS else ' class="number"'


def _part(part: str, cell: Cell, table: Table) -> str:
    ours = cell["ours"]
    if part == PAPER:
        return _number(cell["paper"], table)
    if part == OURS:
        return f"<strong>{_number(ours['mean'], table)}</strong>"
    if part == COMMON:
        return _number(ours.get("common"), table)
    if part == INTERVAL:
        of_seeds = seeds(cell, table)
        below = f' <span class="seeds">seeds {of_seeds}</span>' if of_seeds else ""
        return interval(cell, table) + below
    gap = difference(cell, table)
    if gap is None:
        return _number(None, table)
    text = signed(gap, decimals(table))
    return f"<strong>{text}</strong>" if outside(cell, table) else text


def _number(value: float | None, table: Table) -> str:
    return '<span class="none">–</span>' if value is None else number(value, table)


def _note(table: Table) -> str:
    """Say the unit, how many tasks and seeds there are behind the numbers, and what is bold."""
    done = [cell["ours"] for cell in table["cells"] if cell["ours"] is not None]
    said = ["Percent" if table["unit"] == "%" else _text(table["unit"]).capitalize()]
    for key, word, count in (("tasks", "task", int), ("values", "seed", len)):
        known = [count(ours[key]) for ours in done if ours.get(key)]
        if known:
            low, high = min(known), max(known)
            said.append(some(low, word) if low == high else f"{low:,} to {some(high, word)}")
    if any(ours.get("common") is not None for ours in done):
        said.append("common programs: on the programs that all test sets have")
    if table.get("paper_of"):
        said.append(f"the paper’s are of {_text(table['paper_of'])} others")
    if any(outside(cell, table) for cell in table["cells"]):
        said.append("a difference is bold where the paper’s number lies outside our interval")
    compared = [c["ours"] for c in table["cells"] if difference(c, table) is not None]
    if any(len(ours.get("values") or ()) == 2 for ours in compared):
        said.append("an interval of two seeds is wide: a number inside it need not agree with ours")
    return "; ".join(said) + "."


def _header(names: Sequence[str]) -> str:
    cells = "".join(
        f'<th scope="col"{" class=number" if i else ""}>{_text(name)}</th>'
        for i, name in enumerate(names)
    )
    return f"<thead><tr>{cells}</tr></thead>"


def _grouped_header(groups: Sequence[str], parts: Sequence[str]) -> str:
    top = "".join(
        f'<th scope="colgroup" colspan="{len(parts)}" class="group">{_text(group)}</th>'
        for group in groups
    )
    below = "".join(
        f'<th scope="col" class="number{"" if i else " first"}">{part}</th>'
        for _ in groups
        for i, part in enumerate(parts)
    )
    return f'<thead><tr><td rowspan="2"></td>{top}</tr><tr>{below}</tr></thead>'


def _boxed(title: str, inside: str, kind: str) -> str:
    """Put a table in a box that can be scrolled with a finger and with the keyboard."""
    name = escape(title)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="{kind}"><caption>{name}</caption>{inside}</table></div>'
    )


def _text(value: Any) -> str:
    return escape(shown(value, LONGEST)) if value != "" else ""


def trainings_html(result: Result) -> str:
    """Return what was trained, and on how much."""

    def shown_pairs(training: Mapping[str, Any]) -> str:
        low, high = training["shown"]
        return f"{low}" if low == high else f"{low} to {high}"

    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "seed": lambda t: f"{t['seed']}",
        "data": lambda t: f"{t['data']}",
        "steps": lambda t: f"{t['steps']:,}",
        "batch": lambda t: f"{t['batch']:,}",
        "examples": lambda t: f"{t['examples']:,}",
        "distinct": lambda t: f"{t['distinct']:,}",
        "passes": lambda t: f"{t['passes']:,.4g}",
        "pairs shown": shown_pairs,
        "time": lambda t: duration(t["seconds"]),
        "hash": lambda t: f"{t['hash']}"[:12],
    }
    return _facts_table("What was trained", "model", columns, result.get("trainings") or ())


def tests_html(result: Result) -> str:
    """Return the test sets, and how many programs were left out for want of valid worlds."""
    tests = [{"name": name, **test} for name, test in (result.get("tests") or {}).items()]
    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "tasks": lambda t: f"{t['tasks']:,}",
        "programs without valid worlds": lambda t: f"{t['dropped']:,}",
        "beam": lambda t: f"{t['beam']:,}",
    }
    return _facts_table("What it was tested on", "test set", columns, tests)


def _facts_table(
    title: str,
    first: str,
    columns: Mapping[str, Callable[[Mapping[str, Any]], str]],
    rows: Sequence[Mapping[str, Any]],
) -> str:
    if not rows:
        return ""

    def lines() -> Iterator[str]:
        for row in rows:
            cells = "".join(_fact(name, write, row) for name, write in columns.items())
            yield f'<tr><th scope="row">{_text(row["name"])}</th>{cells}</tr>'

    head = "".join(
        f'<th scope="col"{"" if name == "data" else " class=number"}>{name}</th>'
        for name in columns
    )
    top = f'<thead><tr><th scope="col">{first}</th>{head}</tr></thead>'
    table = f"{top}<tbody>{''.join(lines())}</tbody>"
    return f"<details><summary>{title}</summary>{_boxed(title, table, 'facts-table')}</details>"


def _fact(name: str, write: Callable[[Mapping[str, Any]], str], row: Mapping[str, Any]) -> str:
    """Return a cell; a dash where a fact is not known."""
    try:
        text = _text(write(row))
    except (KeyError, TypeError, ValueError):
        text = "–"
    return f"<td{'' if name == 'data' else ' class=number'}>{text}</td>"
