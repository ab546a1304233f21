"""Commands that look at data: audit, show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress
from unskew.errors import UnskewError

if TYPE_CHECKING:
    from unskew.auditing import Audit
    from unskew.targets import Target

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the source; repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed; the same seed gives the same bytes.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="VARIABLE",
        help="A variable of the domain, a column, or my_module:my_function; repeatable.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run the code and open the files that the data names. Use it for data that you made, "
        "or whose maker you trust.",
    ),
]
Homogenize = Annotated[
    list[str] | None,
    typer.Option(
        "--homogenize",
        metavar="VARIABLE",
        help="Homogenize the source by this variable; given twice or more, by all of them jointly.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="DATASET",
        help="Leave out the programs of this dataset or recipe; repeatable.",
    ),
]


def audit(
    target: Annotated[
        str,
        typer.Argument(help="A source, a dataset, a .parquet or .jsonl file, or module:function."),
    ],
    by: By = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n", help="Examples to read.", show_default="100,000 of a source, all of a file"
        ),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    after: Annotated[
        str | None, typer.Option("--after", help="Compare with this one, the repaired data.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page (.html) or picture (.png, .svg).")
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show how far each salient variable is from uniform, and what repeats or is missing."""
    if report is not None:
        from unskew.report import check_picture

        check_picture(report, page=True)
    allowed = trust or (target, *(by or ()))  # what the person typed, the data may name too
    found: Any = _audit(target, by, n, seed, read_settings(settings), allowed)
    if after is not None:
        found = found.compare(_audit(after, by, n, seed, {}, allowed, found))
        _ = found.variables  # nothing in common is said before anything is written
    written = found.picture(report) if report is not None else None
    if as_json:
        print_json(found.to_dict())
    else:
        draw(found)
        if written is not None:
            echo(f"report: {written}")


def show(
    target: Annotated[str, typer.Argument(help="A source, a dataset, a file, or module:function.")],
    n: Annotated[
        int | None, typer.Option("-n", help="How many examples.", show_default="5; 1 with --trace")
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Step by step, where the domain has steps.")
    ] = False,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show a few examples, drawn as their domain draws them."""
    from unskew.domain import example_data, example_text, example_trace
    from unskew.errors import check_count
    from unskew.targets import open_target

    if trace and as_json:
        raise UnskewError("--trace is a text for people and has no JSON; leave out --json")
    n = (1 if trace else 5) if n is None else n
    check_count("n", n, "show at least one example")
    opened = open_target(target, read_settings(settings), seed, trust)
    if trace and (opened.domain is None or opened.domain.trace is None):
        raise UnskewError(f"{opened.label} has no steps to trace; leave out --trace")
    examples = (example for part in opened.read(n) for example in part.examples())
    found, row = [], -1
    for row, example in enumerate(examples):
        with _row(opened, row):
            if as_json:
                found.append(example_data(example, opened.domain))
            elif trace:
                for frame in example_trace(example, opened.domain):
                    echo(frame + "\n")
            else:
                text = example_text(example, opened.domain)
                echo(text + ("\n" if "\n" in text else ""))
    if row < 0:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to show")
    if as_json:
        print_json(found)


@contextmanager
def _row(opened: Target, row: int) -> Iterator[None]:
    """Say in which row of which file an error is."""
    try:
        yield
    except UnskewError as error:
        raise UnskewError(f"{opened.where(row)}: {error}") from error


def read_settings(settings: list[str] | None) -> dict[str, str]:
    """Read ``--set name=value`` options."""
    chosen = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            raise UnskewError(f"--set is {setting!r}; write it as name=value, like p=0.45")
        chosen[name] = value
    return chosen


def _audit(
    target: str,
    by: list[str] | None,
    n: int | None,
    seed: int,
    settings: dict[str, str],
    trust: bool | tuple[str, ...],
    like: Audit | None = None,
) -> Audit:
    from unskew.api import DEFAULT_N
    from unskew.api import audit as run
    from unskew.targets import open_target

    if n is None and open_target(target, settings).endless:
        n = DEFAULT_N
    with progress(f"auditing {target}", n) as advance:
        return run(
            target,
            by or None,
            n,
            seed=seed,
            settings=settings,
            trust=trust,
            like=like,
            advance=advance,
        )


def need_torch() -> None:
    """Say what to install where the models' libraries are missing."""
    from importlib.util import find_spec

    missing = [name for name in ("torch", "safetensors") if find_spec(name) is None]
    if missing:
        raise UnskewError(f"this needs {' and '.join(missing)}; pip install 'unskew[train]'")
