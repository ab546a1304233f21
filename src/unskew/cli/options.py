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
        help="Homogenize the source by this variable. Repeatable. With --epsilon several variables "
        "count jointly; with --budget each of them gets closer to its target.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="DRAWS",
        help="Draws to spend on each kept example, to get as close to the targets as they allow.",
    ),
]
Closeness = Annotated[
    float | None,
    typer.Option(
        "--closeness",
        metavar="TV",
        help="Get each variable within this total variation of its target, with few draws.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="VARIABLE=TARGET",
        help="uniform, log, sqrt, natural, or shares as VALUE:SHARE,VALUE:SHARE. Repeatable. "
        "Without VARIABLE=, it is for all variables.",
    ),
]
Like = Annotated[
    str | None,
    typer.Option(
        "--like", metavar="DATA", help="A source, a dataset or a file with the shares to reach."
    ),
]
Jointly = Annotated[
    bool, typer.Option("--jointly", help="Balance combinations of values, not each variable.")
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


def read_targets(targets: list[str] | None, variables: list[str] | None) -> dict[str, Any]:
    """Return the ``--target`` options as a dictionary; one without a name is for all variables."""
    from unskew.balance.best.targets import SHAPES

    if targets and len(targets) == 1 and targets[0] in SHAPES:
        return dict.fromkeys(variables or (), targets[0])
    chosen: dict[str, Any] = {}
    for text in targets or ():
        name, equals, target = text.rpartition("=")
        if not (name and equals and target) or name in chosen:
            raise UnskewError(
                f"--target is {text!r}; write each variable once, as length=log or "
                "answer=yes:0.5,no:0.5"
            )
        chosen[name] = _shares(text, target) if ":" in target else target
    return chosen


def _shares(text: str, target: str) -> list[list[Any]]:
    """Return the pairs of ``yes:0.5,no:0.5``. A value that reads as a number is one."""
    pairs: list[list[Any]] = []
    for part in target.split(","):
        value, _, share = part.rpartition(":")
        try:
            pairs.append([_number(value), float(share)])
        except ValueError:
            raise UnskewError(
                f"--target is {text!r}; {share!r} is no share: write answer=yes:0.5,no:0.5"
            ) from None
    return pairs


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


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
