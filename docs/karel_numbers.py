"""The Karel tables of README and docs, made from the entries in results/karel; for docs.numbers."""

from pathlib import Path
from statistics import mean
from typing import Any

from unskew.domains.karel.sources import TRIES
from unskew.experiments import KAREL, load_experiment
from unskew.experiments.karel import narrow_sets, original
from unskew.experiments.karel.lab import Lab
from unskew.experiments.karel.plan import GENERALIZES
from unskew.experiments.karel.scales import SCALES
from unskew.experiments.karel.testing import ACTIONS, ORIGINAL, UNIFORM
from unskew.experiments.karel.trainings import seeds_of, training
from unskew.experiments.tables import cell_text


def _narrow(paper: dict[str, float]) -> dict[str, float]:
    """Name a row of table 1 by test set."""
    return {f"narrow-{name}": number for name, number in paper.items()}


ROOT = Path(__file__).parents[1]
BEST = "beyond, wider"  # of those that were run
WORK = ROOT / "results" / "karel"  # where the entries of the full scale lie
SUMMARY = {  # the README's rows, by test set
    ORIGINAL: "original test set",
    UNIFORM: "same programs, uniform worlds",
    "narrow-0.05-0.85-G": "few walls, many cells with one or two markers",
    "narrow-0.05-0.85-A": "few walls, many cells with eight or nine markers",
    "narrow-0.85-0.05-A": "many walls, few markers",
    "while-in-while-covered": "a loop in a loop, both shown",
    ACTIONS: "one to eight actions, no loops",
}
PAPER = {  # tables 1 and 2, and section 4.2
    "baseline": {**original.PAPER, **_narrow(narrow_sets.BASELINE)},
    "uniform": _narrow(narrow_sets.EVEN),
}
FULL = SCALES["full"]


def results() -> dict[str, dict[str, Any]]:
    """Return every Karel experiment as far as it was run at full scale."""
    lab = Lab("full", WORK)
    return {name: load_experiment(name).run(lab, only=["none"]) for name in KAREL}


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    found = results()
    made = {name: _experiment(result) for name, result in found.items()}
    made["karel-summary"] = _summary()
    made["karel-regimes"] = _regimes()
    made["karel-trainings"] = _trainings(found)
    made["karel-dropped"] = _dropped(found["karel-narrow-sets"]["tests"])
    return made


def _experiment(result: dict[str, Any]) -> str:
    return "\n\n".join(
        f"**{table['title']}** ({table['unit']})\n\n{_table(table)}"
        + (f"\n\n{table['note']}" if "note" in table else "")
        for table in result["tables"]
    )


def _table(table: dict[str, Any]) -> str:
    """Test sets down, models across: ours with its interval, then the paper's."""
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    rows = ["| | " + " | ".join(table["rows"]) + " |", "|---" * (len(table["rows"]) + 1) + "|"]
    for column in table["columns"]:
        each = " | ".join(cell_text(cells[row, column], table["unit"]) for row in table["rows"])
        rows.append(f"| {column} | {each} |")
    return "\n".join(rows)


def _summary() -> str:
    """The paper's numbers beside ours in its regime and on a stream, and one model for all."""
    passes = f"{FULL.whole_steps * FULL.batch / FULL.whole:.0f} passes"
    heads = ["% solved"]
    for kind in ("baseline", "uniform worlds"):
        heads += [f"{kind}, paper", passes, "stream"]
    heads.append("[beyond](docs/reproduction.md#one-model-for-all-of-it)")
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for test, title in SUMMARY.items():
        told = [title]
        for kind, paper in PAPER.items():
            number = f"{paper[test]:g}" if test in paper else ""
            told += [number, _solved(f"{kind}, whole", test), _solved(kind, test)]
        rows.append(f"| {' | '.join([*told, _solved(BEST, test)])} |")
    return "\n".join(rows)


def _solved(model: str, test: str) -> str:
    """Say the mean over the seeds that were run, and their range."""
    values = _values(model, test)
    if not values:
        return "–"
    spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
    return f"{mean(values):.1f}{spread}"


def _values(model: str, test: str) -> list[float]:
    """Return what each seed that was run solves of a test set, in percent."""
    lab, found = Lab("full", WORK), []
    for seed in seeds_of(model, FULL):
        score = lab.known(training(model, FULL, seed)).get("scores", {}).get(test)
        if score is not None:
            share = score["shares"][GENERALIZES]
            found.append(100 * share["hits"] / share["n"])
    return found


def _regimes() -> str:
    """Say what the columns of the summary are, and what more passes over less data do."""
    small = [mean(_values("baseline, passes", test)) for test in list(SUMMARY)[:5]]
    told = ", ".join(f"{value:.1f}" for value in small[:-1]) + f" and {small[-1]:.1f}"
    passed, streamed, short = (
        f"{steps * FULL.batch / 1e6:.0f} M" for steps in (FULL.whole_steps, FULL.steps, FULL.short)
    )
    return (
        f"*Passes* go over a fixed set of {FULL.whole:,} examples, as large as the original "
        f"({passed} examples seen, one seed); a *stream* is endless, each example used at most "
        f"{FULL.reuse} times ({streamed}; where a range is given, the mean over seeds). After "
        f"{FULL.short * FULL.batch // FULL.passed} passes over {FULL.passed:,} examples ({short}) "
        f"the baseline solves {told} % of the first five: how often a set is seen matters as much "
        f"as what is in it."
    )


def _dropped(tests: dict[str, dict[str, int]]) -> str:
    """For how many of the original test programs the other sets have no worlds."""
    left_out = {name: facts["dropped"] for name, facts in tests.items()}
    walled = "karel/narrow-0.85"
    walls = [n for name, n in left_out.items() if name.startswith(walled)]
    narrow = [n for name, n in left_out.items() if "narrow" in name and not name.startswith(walled)]
    scores = Lab("full", WORK).known(training("baseline", FULL, 1))["scores"]
    return (
        f"For some no valid worlds exist, or none are found in {TRIES:,} draws each: "
        f"{left_out['karel/uniform-test']} of {tests['karel/msr-test']['tasks']:,} in the uniform "
        f"set, {min(narrow)} to {max(narrow)} in the narrow ones, {min(walls)} to {max(walls)} "
        f"where 85 % of the cells are walls. The report also gives the accuracy on the "
        f"{scores['msr-test']['common']['n']:,} tasks whose programs are in all sets."
    )


def _trainings(found: dict[str, dict[str, Any]]) -> str:
    """Every model that was trained: on what, how long, with how many seeds."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for result in found.values():
        for each in result["trainings"]:
            known = by_name.setdefault(each["name"], [])
            if each["hash"] not in {other["hash"] for other in known}:
                known.append(each)
    heads = ("model", "trained on", "pairs shown", "seeds", "examples", "passes", "seconds")
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, runs in by_name.items():
        first = runs[0]
        seeds = ", ".join(str(run["seed"]) for run in runs)
        seconds = " / ".join(_seconds(run) for run in runs)
        low, high = first["shown"]
        shown = f"{low}" if low == high else f"{low} to {high}"
        rows.append(
            f"| {name} | {first['data']} | {shown} | {seeds} | {first['examples'] / 1e6:.1f} M "
            f"| {first['passes']:g} | {seconds} |"
        )
    return "\n".join(rows)


def _seconds(run: dict[str, Any]) -> str:
    """How long the training took; several at once take longer each."""
    beside = f" ({run['at_once']} at once)" if run["at_once"] > 1 else ""
    return f"{run['seconds']:.0f}{beside}"
