"""The command that finds Karel programs: synthesize."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.models.command import need_torch
from unskew.cli.options import Json, option
from unskew.cli.printing import echo, print_json
from unskew.core.errors import check_range

if TYPE_CHECKING:
    from unskew.models.karel.decode.solve import Solved


def synthesize(
    problem: Annotated[
        str,
        typer.Argument(
            help="A text file with pairs of worlds, before and after, as pictures. Or any data "
            "with Karel examples: a file, a dataset, a recipe, a table."
        ),
    ],
    row: Annotated[int, option("The example to take, counted from 1.")] = 1,
    run: Annotated[
        Path | None,
        option("A run, or the file of a model.", default="the shipped model", metavar="RUN"),
    ] = None,
    beam: Annotated[int, option("Number of candidates, from 1 to 64.")] = 64,
    top: Annotated[int, option("Largest number of programs to print.")] = 3,
    as_json: Json = False,
) -> None:
    """Find a Karel program from input/output worlds. Exits with 1 if none is found."""
    need_torch()
    result = _synthesize(problem, row, run, beam, top)
    if as_json:
        print_json(result)
    else:
        _print_programs(result)
    if result["found"] == 0:
        raise typer.Exit(1)


def _synthesize(name: str, row: int, run: Path | None, beam: int, top: int) -> dict[str, Any]:
    """Return the programs as plain data, the best first, and how long the search took."""
    import numpy as np

    from unskew.models.karel.data.examples import read_worlds
    from unskew.models.karel.data.tasks import Tasks
    from unskew.models.karel.decode.beam import LARGEST_BEAM
    from unskew.models.karel.decode.solve import SHOWN, solve, warm_up

    check_range("top", top, 1, LARGEST_BEAM)
    check_range("beam", beam, 1, LARGEST_BEAM)
    worlds = read_worlds(name, row)
    pairs = min(len(worlds), SHOWN)
    began = time.perf_counter()
    model = _model(run)
    warm_up(model)
    ready = time.perf_counter()
    tasks = Tasks.of_arrays(np.zeros((1, 1), np.uint8), worlds[None])
    solved = solve(model, tasks, beam, shown=pairs)
    return {
        "problem": name,
        "row": row,
        "pairs": pairs,
        "held_out": len(worlds) - pairs,
        "beam": beam,
        "tried": int(solved.judged.valid.sum()),
        "found": int(solved.judged.consistent[0].sum()),
        "seconds": time.perf_counter() - ready,
        "load_seconds": ready - began,
        "programs": _programs(solved, top),
    }


def _model(run: Path | None) -> Any:
    """Return the model of a run, or the one that is shipped."""
    from unskew.models.karel.train.run import load_synthesizer, shipped_synthesizer
    from unskew.models.ranks import ALONE

    return shipped_synthesizer() if run is None else load_synthesizer(run, ALONE.device)


def _programs(solved: Solved, top: int) -> list[dict[str, Any]]:
    """Return the best programs that turn every input world into its output world."""
    import numpy as np

    from unskew.domains.karel.language.syntax import to_readable, to_tokens

    places = np.flatnonzero(solved.judged.consistent[0])[:top].tolist()
    return [
        {
            "rank": rank,
            "candidate": place + 1,
            "log_probability": float(solved.scores[0, place]),
            "generalizes": bool(solved.judged.generalizes[0, place]),
            "program": to_tokens(solved.programs[0, place]),
            "text": to_readable(solved.programs[0, place]),
        }
        for rank, place in enumerate(places, start=1)
    ]


def _print_programs(result: Mapping[str, Any]) -> None:
    """Print each program with its rank, and last how many candidates were right."""
    for program in result["programs"]:
        place = f"candidate {program['candidate']} of {result['beam']}"
        right = "right" if program["generalizes"] else "wrong"
        others = f", {right} on what was not shown" if result["held_out"] else ""
        chance = f"log-probability {program['log_probability']:.2f}"
        echo(f"# {program['rank']}: {place}, {chance}{others}")
        echo(program["text"] + "\n")
    k, tried = result["pairs"], result["tried"]
    wanted = "the pair shows" if k == 1 else f"all {k} pairs show"
    summary = f"{result['found']} of {tried} candidates do what {wanted}"
    if result["found"] == 0:
        summary = f"none found: no candidate of {tried} does what {wanted}"
    seconds, load = result["seconds"], result["load_seconds"]
    echo(f"{summary} ({seconds:.1f} s, and {load:.1f} s to load)")
