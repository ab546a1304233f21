"""The options that several commands share, and how their texts are read."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unskew.core.errors import UnskewError

TARGET = "A source, a recipe, a dataset, a file or folder of data, or module:function."
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the source. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="VARIABLE",
        help="A variable of the domain, a column, or my_module:my_function. Repeatable.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run the code and open the files that the data names. Use it only for data that you "
        "made, or if you trust its author.",
    ),
]
Homogenize = Annotated[
    list[str] | None,
    typer.Option(
        "--homogenize",
        metavar="VARIABLE",
        help="Homogenize the source by this variable. Repeat it to homogenize by several "
        "variables jointly.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="DATASET",
        help="Leave out the programs of this dataset or recipe. Repeatable.",
    ),
]


def read_settings(settings: list[str] | tuple[str, ...] | None) -> dict[str, str]:
    """Return the ``--set name=value`` options as a dictionary."""
    chosen = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            raise UnskewError(f"--set is {setting!r}; write it as name=value, like p=0.45")
        chosen[name] = value
    return chosen


def read_splits(splits: list[str] | None) -> dict[str, int] | None:
    """Return the ``--split name=number`` options as a dictionary; None if there are none."""
    if not splits:
        return None
    chosen: dict[str, int] = {}
    for split in splits:
        name, _, number = split.partition("=")
        if not (name and number.isdecimal()) or name in chosen:
            raise UnskewError(
                f"--split is {split!r}; write each split once as name=number, like train=1000"
            )
        chosen[name] = int(number)
    return chosen


def read_shown(text: str) -> tuple[int, int]:
    """Return the smallest and the largest number of pairs that ``--shown 5`` or ``1-5`` means."""
    low, dash, high = text.partition("-")
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise UnskewError(f"--shown is {text!r}; give a number like 5, or a range like 1-5")
    first, last = int(low), int(high) if dash else int(low)
    if not 1 <= first <= last:
        raise UnskewError(f"--shown is {text!r}; give at least 1, and the smaller number first")
    return first, last


def option(
    text: str, *names: str, default: str = "", metavar: str | None = None, panel: str | None = None
) -> Any:
    """Return an option for a signature. ``default`` says in words what holds without it."""
    return typer.Option(
        *names, help=text, show_default=default or True, metavar=metavar, rich_help_panel=panel
    )
