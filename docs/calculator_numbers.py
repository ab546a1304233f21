"""The Calculator's numbers, made from results/calculator*.json; for docs.numbers."""

from typing import Any

from docs.markdown import ROOT, read, table

NAMES = {
    "t2t": "T2T",
    "dcfg": "DCFG",
    "max_depth": "max depth",
    "mean_depth": "mean depth",
}
TABLES = {
    "by_variable": "Improvement in accuracy at ε = 0.025, percentage points",
    "by_epsilon": "Improvement by ε, mean over the five variables, percentage points",
    "kl_removed": "KL from uniform removed at ε = 0.025, percent",
}


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    full = read("calculator")
    tables = [f"**{title}**\n\n{_table(full, name)}" for name, title in TABLES.items()]
    return {
        "calculator-summary": _summary(full),
        "calculator-tables": "\n\n".join(tables),
        "calculator-length": _by_length(),
        "calculator-provenance": _provenance(full),
        "calculator-budgets": _budgets(read("calculator-budgets")),
    }


def _summary(result: dict[str, Any]) -> str:
    """Return the accuracy on each source, and what homogenizing adds."""
    ours, paper = result["ours"], result["paper"]
    rows = []
    for source in ("dcfg", "t2t"):
        was, gain = paper["original"][source]["accuracy"], paper["by_epsilon"][source]["0.025"]
        rows.append(
            (_name(source), *_accuracy_and_gain(ours, source), f"{was:.2f} %, {gain:+.2f} pp")
        )
    return table(("trained on", "as it is", "homogenized", "the paper"), rows)


def _table(result: dict[str, Any], name: str) -> str:
    """Return a table of the paper, its numbers below ours."""
    ours, paper = result["ours"][name], result["paper"][name]
    columns = list(ours["t2t"])
    sign = "" if name == "kl_removed" else "+"
    rows = []
    for source in ("t2t", "dcfg"):
        cells = [_estimate(ours[source][column], sign) for column in columns]
        rows.append((f"{_name(source)}, ours", *cells))
        numbers = [f"{paper[source][column]:{sign}.2f}" for column in columns]
        rows.append((f"{_name(source)}, paper", *numbers))
    return table(("", *map(_name, columns)), rows)


def _by_length() -> str:
    """Return the accuracy and the improvement after shorter and longer trainings."""
    names = [path.stem for path in (ROOT / "results").glob("calculator*.json")]
    results = {
        int(result["settings"]["train"]["steps"]): result
        for result in map(read, names)
        if result["experiment"] == "calculator"
    }
    rows = [
        (
            f"{steps:,}",
            *_accuracy_and_gain(result["ours"], "t2t"),
            *_accuracy_and_gain(result["ours"], "dcfg"),
        )
        for steps, result in sorted(results.items())
    ]
    heads = ("steps", "T2T as it is", "improvement", "DCFG as it is", "improvement")
    return table(heads, rows)


def _budgets(result: dict[str, Any]) -> str:
    """Return accuracy, cost and removed KL of one variable at a time and of all at once."""
    tables = {data["title"]: _cells(data) for data in result["tables"]}
    mixture, draws, removed = (
        next(cells for title, cells in tables.items() if title.startswith(start))
        for start in ("Accuracy on the equal", "Draws", "KL")
    )
    rows = []
    for column in result["tables"][0]["columns"]:
        row: list[str] = [column]
        for source in ("T2T", "DCFG"):
            accuracy, kl = mixture[source, column], removed[source, column]
            row += [
                f"{accuracy['mean']:.2f} ± {accuracy['high'] - accuracy['mean']:.2f}",
                f"{draws[source, column]['mean']:.1f}",
                f"{kl['mean']:.0f}",
            ]
        rows.append(tuple(row))
    heads = (
        "homogenized by",
        "T2T, %",
        "draws",
        "KL removed, %",
        "DCFG, %",
        "draws",
        "KL removed, %",
    )
    settings, train = result["settings"], result["settings"]["train"]
    message = (
        f"{settings['seeds']} seeds, {settings['times'] * settings['seeds']} of the original; "
        f"{train['steps']:,} steps; everything took {result['seconds']:.0f} s on "
        f"{result['provenance']['hardware']}."
    )
    return f"{table(heads, rows)}\n\n{message}"


def _cells(data: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return our numbers of a table by row and column."""
    return {(cell["row"], cell["column"]): cell["ours"] for cell in data["cells"]}


def _provenance(result: dict[str, Any]) -> str:
    settings, train = result["settings"], result["settings"]["train"]
    return (
        f"Settings: {len(result['seeds'])} seeds; {settings['examples']:,} examples in a training "
        f"set; an LSTM of {settings['hidden']} units; {train['steps']:,} steps with batches of "
        f"{train['batch']}; Adam with a learning rate of {train['rate']:g}; {settings['test']:,} "
        f"test expressions from each of the four sources. Everything took "
        f"{result['seconds']:.0f} s on {result['provenance']['hardware']}."
    )


def _accuracy_and_gain(ours: dict[str, Any], source: str) -> tuple[str, str]:
    accuracy = _estimate(ours["original"][source]["accuracy"])
    return f"{accuracy} %", f"{_estimate(ours['by_epsilon'][source]['0.025'], '+')} pp"


def _estimate(estimate: dict[str, Any], sign: str = "") -> str:
    return f"{estimate['mean']:{sign}.2f} ± {estimate['half_width']:.2f}"


def _name(key: str) -> str:
    return NAMES.get(key, key)
