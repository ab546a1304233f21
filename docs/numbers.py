"""Writes the numbers of README and docs from results/*.json; `make docs-numbers` runs it.

A block stands between `<!-- numbers: NAME -->` and `<!-- end -->`; a test fails when one drifts.
"""

import json
import re
from pathlib import Path
from typing import Any

from docs import karel_numbers, speed_numbers, synthesizer_numbers

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/calculator.md",
    "docs/datasets.md",
    "docs/design.md",
    "docs/karel.md",
    "docs/reasoning-gym.md",
    "docs/reproduction-tables.md",
    "docs/reproduction.md",
    "docs/synthesizer.md",
    "docs/theory.md",
)
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
    full = _result("calculator")
    return {
        "calculator-summary": _summary(full),
        "calculator-tables": "\n\n".join(
            f"**{title}**\n\n{_table(full, name)}" for name, title in TABLES.items()
        ),
        "calculator-length": _by_length(),
        "calculator-provenance": _provenance(full),
        "karel-cuda": _cuda(_result("karel_cuda")),
        "gym-skew": _gym_skew(_result("reasoning_gym")),
        "gym-gcd": _gym_gcd(_result("reasoning_gym")),
        "gym-summary": _gym_summary(_result("reasoning_gym")),
        "gym-lcm": _gym_lcm(_result("reasoning_gym")),
        **karel_numbers.blocks(),
        **speed_numbers.blocks(),
        **synthesizer_numbers.blocks(),
    }


def rewritten(page: str, texts: dict[str, str]) -> str:
    """Return a page's text with its blocks made anew."""

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{texts[match[2]]}\n{match[3]}"

    pattern = r"(<!-- numbers: ([\w-]+) -->)\n.*?(<!-- end -->)"
    return re.sub(pattern, fill, (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def _result(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((ROOT / "results" / f"{name}.json").read_text())
    return data


def _cuda(result: dict[str, Any]) -> str:
    """Ticks a second on a device and beside it, case by case."""
    ways = {
        "on_device": "on the device",
        "with_transfers": "with transfers",
        "cpu_one_core": "one core",
        "cpu_all_cores": "all cores",
    }
    rows = [f"| M ticks/s | {' | '.join(ways.values())} |", "|---" * (len(ways) + 1) + "|"]
    for name, case in result["cases"].items():
        speeds = [case["ticks_per_second"][way]["median"] / 1e6 for way in ways]
        rows.append(f"| {name} | {' | '.join(f'{speed:,.0f}' for speed in speeds)} |")
    wrong = sum(case["mismatches"] for case in result["cases"].values())
    pairs = result["settings"]["pairs"]
    hardware = result["provenance"]["hardware"]
    return "\n".join(rows) + (
        f"\n\nEach case has {pairs:,} pairs; the number is the median of "
        f"{result['settings']['repeats']} runs on {hardware}. {wrong} results differ from those of "
        f"the CPU (`results/karel_cuda.json`)."
    )


def _gym_skew(result: dict[str, Any]) -> str:
    """What the library's tasks are like, with its seeds and with ours."""
    sides = (result["library"], result["ours"])
    lines = {
        "`gcd`: the answer is 2": [_percent(side["gcd"]["two_share"]) for side in sides],
        "`gcd`: its three most frequent answers": [
            _percent(side["gcd"]["top_three_share"]) for side in sides
        ],
        "`lcm`: distinct questions": [f"{side['lcm']['distinct_questions']:,}" for side in sides],
        f"`gcd`: distinct questions in {result['settings']['stream']:,} of an endless stream": [
            f"{side['stream_distinct']:,}" for side in sides
        ],
        f"`gcd`: questions that seeds 42 and 43 share, of {result['settings']['neighbours']}": [
            str(side["neighbours_share"]) for side in sides
        ],
    }
    rows = ["| | the library | as a source here |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| {name} | {a} | {b} |" for name, (a, b) in lines.items())])


def _gym_gcd(result: dict[str, Any]) -> str:
    """What homogenizing gcd by its answer leaves."""
    columns = {"as it is": result["ours"]["gcd"]}
    columns |= {f"ε = {epsilon}": case for epsilon, case in result["gcd"].items()}
    lines: dict[str, list[str]] = {
        "most frequent answer": [
            f"{c['commonest']}: {_percent(c['commonest_share'])}" for c in columns.values()
        ],
        "three most frequent": [_percent(c["top_three_share"]) for c in columns.values()],
        "answers above 10": [_percent(c["answers_above_10"]) for c in columns.values()],
        "different answers": [f"{c['distinct_answers']}" for c in columns.values()],
        "questions that repeat": [
            _percent(1 - c["distinct_questions"] / c["rows"]) for c in columns.values()
        ],
        "draws per kept example": [f"{c.get('cost', 1):.1f}" for c in columns.values()],
    }
    rows = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join([*rows, *(f"| {name} | {' | '.join(c)} |" for name, c in lines.items())])


def _gym_summary(result: dict[str, Any]) -> str:
    """One task of the library, as it is and homogenized, in a sentence."""
    before, (epsilon, after) = result["ours"]["gcd"], next(iter(result["gcd"].items()))
    return (
        f"{_percent(before['commonest_share'])} of {before['rows']:,} `gcd` tasks have the answer "
        f"{before['commonest']}, and {_percent(before['answers_above_10'])} have an answer above "
        f"10. After homogenizing by the answer (ε = {epsilon}), the shares are "
        f"{_percent(after['commonest_share'])} and {_percent(after['answers_above_10'])}. This "
        f"costs {after['cost']:.1f} draws for each kept example."
    )


def _gym_lcm(result: dict[str, Any]) -> str:
    """What the repair of lcm leaves."""
    before, after = result["ours"]["lcm"], result["lcm"]
    lengths = [str(length) for length in range(1, 7)]
    shares = [
        ", ".join(_percent(side["lengths"].get(length, 0)) for length in lengths)
        for side in (before, after)
    ]
    return "\n".join(
        [
            "| | as it is | repaired |",
            "|---|---|---|",
            f"| examples | {before['rows']:,} | {after['rows']:,} |",
            f"| distinct questions | {before['distinct_questions']:,} "
            f"| {after['distinct_questions']:,} |",
            f"| different answers | {before['distinct_answers']:,} "
            f"| {after['distinct_answers']:,} |",
            f"| answers of 1 to 6 digits | {shares[0]} | {shares[1]} |",
            f"| draws per kept example | 1.0 | {after['cost']:.1f} |",
        ]
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _summary(result: dict[str, Any]) -> str:
    rows = ["| trained on | as it is | homogenized | the paper |", "|---|---|---|---|"]
    for source in ("dcfg", "t2t"):
        ours, paper = result["ours"], result["paper"]
        base, gain = ours["original"][source]["accuracy"], ours["by_epsilon"][source]["0.025"]
        was, gained = paper["original"][source]["accuracy"], paper["by_epsilon"][source]["0.025"]
        rows.append(
            f"| {_name(source)} | {_cell(base)} % | {_cell(gain, sign=True)} pp "
            f"| {was:.2f} %, {gained:+.2f} pp |"
        )
    return "\n".join(rows)


def _table(result: dict[str, Any], name: str) -> str:
    ours, paper = result["ours"][name], result["paper"][name]
    columns = list(ours["t2t"])
    sign = name != "kl_removed"
    rows = [
        "| | " + " | ".join(_name(column) for column in columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for source in ("t2t", "dcfg"):
        cells = " | ".join(_cell(ours[source][column], sign=sign) for column in columns)
        rows.append(f"| {_name(source)}, ours | {cells} |")
        cells = " | ".join(f"{paper[source][c]:{'+' if sign else ''}.2f}" for c in columns)
        rows.append(f"| {_name(source)}, paper | {cells} |")
    return "\n".join(rows)


def _by_length() -> str:
    rows = [
        "| steps | T2T as it is | improvement | DCFG as it is | improvement |",
        "|---|---|---|---|---|",
    ]
    for path in sorted((ROOT / "results").glob("calculator*.json"), key=_steps):
        result = _result(path.stem)
        cells = []
        for source in ("t2t", "dcfg"):
            cells.append(_cell(result["ours"]["original"][source]["accuracy"]) + " %")
            cells.append(_cell(result["ours"]["by_epsilon"][source]["0.025"], sign=True) + " pp")
        rows.append(f"| {_steps(path):,} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _steps(path: Path) -> int:
    steps: int = _result(path.stem)["settings"]["train"]["steps"]
    return steps


def _provenance(result: dict[str, Any]) -> str:
    settings, source = result["settings"], result["provenance"]
    train = settings["train"]
    return (
        f"Settings: {len(result['seeds'])} seeds; {settings['examples']:,} examples in a training "
        f"set; an LSTM of {settings['hidden']} units; {train['steps']:,} steps with batches of "
        f"{train['batch']}; Adam with a learning rate of {train['rate']:g}; {settings['test']:,} "
        f"test expressions from each of the four sources. Everything took "
        f"{result['seconds']:.0f} s on {source['hardware']}."
    )


def _cell(cell: dict[str, Any], *, sign: bool = False) -> str:
    return f"{cell['mean']:{'+' if sign else ''}.2f} ± {cell['half_width']:.2f}"


def _name(key: str) -> str:
    return NAMES.get(key, key)


def main() -> None:
    """Rewrite the pages."""
    texts = blocks()
    for page in PAGES:
        (ROOT / page).write_text(rewritten(page, texts), encoding="utf-8")


if __name__ == "__main__":
    main()
