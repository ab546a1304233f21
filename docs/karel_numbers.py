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
SUMMARY = {  # the README's rows: (experiment, column): title
    ("karel-narrow-sets", "original"): "original test set",
    ("karel-narrow-sets", "uniform"): "same programs, uniform worlds",
    ("karel-narrow-sets", "0.05-0.85-G"): "few walls, many cells with one or two markers",
    ("karel-narrow-sets", "0.05-0.85-A"): "few walls, many cells with eight or nine markers",
    ("karel-narrow-sets", "0.85-0.05-A"): "many walls, few markers",
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
    """The baseline and the uniform model, the paper's beside ours."""
    models = ("baseline, passes", "baseline", "uniform")
    heads = (
        "baseline: 100 times through 131,072 examples",
        "baseline: endless stream",
        "trained on uniform worlds",
    )
    rows = ["| % solved | " + " | ".join(heads) + " |", "|---" * 4 + "|"]
    for (name, column), title in SUMMARY.items():
        (table,) = found[name]["tables"]
        cells = {cell["row"]: cell for cell in table["cells"] if cell["column"] == column}
        told = " | ".join(cell_text(cells[model], table["unit"]) for model in models)
        rows.append(f"| {title} | {told} |")
    return "\n".join(rows)


def _dropped(tests: dict[str, dict[str, int]]) -> str:
    """For how many of the original test programs the other sets have no worlds."""
    left_out = {name: facts["dropped"] for name, facts in tests.items()}
    walls = [n for name, n in left_out.items() if name.startswith("karel/narrow-0.85")]
    narrow = [n for name, n in left_out.items() if "narrow" in name and n not in walls]
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
    rows = ["| model | trained on | seeds | examples | passes | seconds |", "|---" * 6 + "|"]
    for name, runs in by_name.items():
        first = runs[0]
        seeds = ", ".join(str(run["seed"]) for run in runs)
        seconds = " / ".join(f"{run['seconds']:.0f}" for run in runs)
        rows.append(
            f"| {name} | {first['data']} | {seeds} | {first['examples'] / 1e6:.1f} M "
            f"| {first['passes']:g} | {seconds} |"
        )
    return "\n".join(rows)
