"""The Karel tables of README and docs, made from the entries in results/karel; for docs.numbers."""

from pathlib import Path
from typing import Any

from unskew.experiments import KAREL, load_experiment
from unskew.experiments.karel.lab import Lab
from unskew.experiments.karel.scales import SCALES
from unskew.experiments.karel.trainings import training
from unskew.experiments.tables import cell_text

ROOT = Path(__file__).parents[1]
WORK = ROOT / "results" / "karel"  # where the entries of the full scale lie
SUMMARY = {  # the README's rows: the test set, and its column in table 1
    "msr-test": ("original", "original test set"),
    "uniform-test": ("uniform", "same programs, uniform worlds"),
    "narrow-0.05-0.85-G": ("0.05-0.85-G", "few walls, many cells with one or two markers"),
    "narrow-0.05-0.85-A": ("0.05-0.85-A", "few walls, many cells with eight or nine markers"),
    "narrow-0.85-0.05-A": ("0.85-0.05-A", "many walls, few markers"),
    "while-in-while-covered": ("", "a loop in a loop, both shown"),
    "actions-test": ("", "one to eight actions, no loops"),
}


def results() -> dict[str, dict[str, Any]]:
    """Return every Karel experiment as far as it was run at full scale."""
    lab = Lab("full", WORK)
    return {name: load_experiment(name).run(lab, only=["none"]) for name in KAREL}


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    found = results()
    made = {name: _experiment(result) for name, result in found.items()}
    made["karel-summary"] = _summary(found)
    made["karel-few"] = _passes(found)
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


def _summary(found: dict[str, dict[str, Any]]) -> str:
    """The baseline, the uniform model and one for all of it, the paper's beside ours."""
    (table_1,) = found["karel-narrow-sets"]["tables"]
    beyond = found["karel-beyond"]["tables"][0]
    ours = {(cell["row"], cell["column"]): cell for cell in beyond["cells"]}
    papers = {(cell["row"], cell["column"]): cell["paper"] for cell in table_1["cells"]}
    heads = {
        "baseline": "baseline",
        "uniform": "uniform worlds, 1 to 5 pairs shown",
        "beyond": "several, [homogenized](docs/reproduction.md#one-model-for-all-of-it)",
    }
    rows = [f"| % solved, trained on: | {' | '.join(heads.values())} |", "|---" * 4 + "|"]
    for test, (column, title) in SUMMARY.items():
        each = (ours[model, test] | {"paper": papers.get((model, column))} for model in heads)
        rows.append(f"| {title} | {' | '.join(cell_text(cell, '%') for cell in each)} |")
    return "\n".join(rows)


def _passes(found: dict[str, dict[str, Any]]) -> str:
    """What many passes over a small set leave of the baseline."""
    full = SCALES["full"]
    cells = {
        cell["column"]: cell["ours"]["mean"]
        for cell in found["karel-narrow-sets"]["tables"][0]["cells"]
        if cell["row"] == "baseline, passes" and cell["ours"] is not None
    }
    if not cells:
        return ""
    return (
        f"These models are trained on endless streams, of which every example is used at most "
        f"{full.reuse} times. The same baseline after {full.short * full.batch // full.passed} "
        f"passes over {full.passed:,} examples, an eighth of the paper's set, in half as many "
        f"steps, solves "
        f"{cells['original']:.1f}, {cells['uniform']:.1f}, {cells['0.05-0.85-G']:.1f}, "
        f"{cells['0.05-0.85-A']:.1f} and {cells['0.85-0.05-A']:.1f} % of the first five: how often "
        f"a set is seen matters as much as what is in it."
    )


def _dropped(tests: dict[str, dict[str, int]]) -> str:
    """For how many of the original test programs the other sets have no worlds."""
    left_out = {name: facts["dropped"] for name, facts in tests.items()}
    walled = "karel/narrow-0.85"
    walls = [n for name, n in left_out.items() if name.startswith(walled)]
    narrow = [n for name, n in left_out.items() if "narrow" in name and not name.startswith(walled)]
    scores = Lab("full", WORK).known(training("baseline", SCALES["full"], 1))["scores"]
    return (
        f"For some no valid worlds exist, or none are found in 20,000 draws each: "
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
