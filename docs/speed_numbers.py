"""The speed figures of docs, made from results/speed.json, and what parts cost; for docs.numbers.

`make speed` measures them again.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MACHINE = "One core of a small cloud machine"
TOLD = ("karel/msr", "karel/uniform", "karel/narrow .25 .65 U", "karel/narrow .85 .05 A")
BILLION, CORES = 10**9, 64
Rate = list[float]  # median, slowest, fastest


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    speed = json.loads((ROOT / "results" / "speed.json").read_text(encoding="utf-8"))
    parts = json.loads((ROOT / "results" / "parts.json").read_text(encoding="utf-8"))
    return {
        "speed": _speed(speed),
        "karel-speed": _karel(speed["karel"]),
        "karel-sources": _sources(speed["karel_sources"]),
        "datasets-billion": _billion(speed["datasets"]["karel/msr"]),
        "theory-parts": _parts(parts),
    }


def _speed(speed: dict[str, Any]) -> str:
    """The table of the design page."""
    calculator, karel, sources = speed["calculator"], speed["karel"], speed["karel_sources"]
    steps = [row["nanoseconds"] for row in speed["homogenize"]["acceptance"]]
    shares = [100 * row["acceptance"] / row["drawing"] for row in steps]
    times = [each["measured"][0] / each["plain"][0] for each in calculator.values()]
    kept = list(speed["homogenize"]["memory"].items())
    rows = {
        "Calculator expressions drawn, printed, evaluated": _two(calculator, "drawn"),
        "… and all five variables measured": f"{_two(calculator, 'measured')}; "
        f"{min(times):.0f} to {max(times):.0f} times plain Python",
        "acceptance step (counting and deciding, without measuring)": (
            f"{_mean(steps, 'acceptance'):.1f} ns a draw: {min(shares):.0f} to "
            f"{max(shares):.0f} % of the time of drawing"
        ),
        "Karel runs": f"{_millions(karel['ticks'])} M ticks/s, {_millions(karel['runs'])} M short "
        f"runs/s ([on a GPU](karel.md#running) {_on_gpu():.0f} G ticks/s of random pairs)",
        "Karel examples of six worlds": f"{_range(sources['karel/msr']['rate'])}/s like the "
        f"original's, {_range(sources['karel/uniform']['rate'])}/s uniform",
        "peak memory": "; ".join(f"{mib:.0f} MiB with {int(n):,} kept" for n, mib in kept),
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in rows.items())])


def _on_gpu() -> float:
    """Return the ticks a second of random pairs of programs and worlds, in thousands of millions.

    What is there already; to bring it there takes longer.
    """
    path = ROOT / "results" / "karel_cuda.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return float(cases["random pairs"]["ticks_per_second"]["on_device"]["median"]) / 1e9


def _two(calculator: dict[str, Any], what: str) -> str:
    named = {"DCFG": "dcfg", "T2T": "t2t"}
    return ", ".join(f"{_millions(calculator[s][what])} M/s ({n})" for n, s in named.items())


def _karel(karel: dict[str, Rate]) -> str:
    return (
        f"{MACHINE} runs {_millions(karel['ticks'])} million ticks a second (one loop), or "
        f"{_millions(karel['runs'])} million short runs. This is "
        f"{karel['ticks'][0] / karel['ticks_plain'][0]:.0f} and "
        f"{karel['runs'][0] / karel['runs_plain'][0]:.0f} times as many as the same code in plain "
        f"Python (`make bench`)."
    )


def _sources(sources: dict[str, dict[str, Any]]) -> str:
    """A row a source, and how fast the plain way is."""
    rows = ["| source | examples/s | worlds drawn for six | programs dropped | plain rejection |"]
    rows.append("|---|---|---|---|---|")
    for name in TOLD:
        told = sources[name]
        source, _, settings = name.partition(" ")
        dropped = f"{100 * told['dropped']:.1f} %" if "dropped" in told else "–"
        rows.append(
            f"| `{source}`{' ' if settings else ''}{settings} | {_range(told['rate'])} | "
            f"{told['worlds']:,.0f} | {dropped} | {told['plain']:.0f}/s |"
        )
    return "\n".join(rows)


def _billion(karel: dict[str, float]) -> str:
    seconds = BILLION / karel["one"]
    hours = seconds / 3600
    return (
        f"**The cost of a billion examples.** One worker of a small cloud machine makes and writes "
        f"{_rounded(karel['one'])} examples of `karel/msr` a second (`make bench`). Each takes "
        f"{karel['bytes']:.0f} bytes. A billion examples take {hours:.0f} core-hours and "
        f"{BILLION * karel['bytes'] / 1e9:.0f} GB. On {CORES} cores this is "
        f"{60 * hours / CORES:.0f} minutes, if the cores scale; we measured that two workers make "
        f"{karel['two'] / karel['one']:.1f} times as many examples as one."
    )


def _parts(parts: dict[str, Any]) -> str:
    """Sizes across; for each source what is left and what it costs."""
    rows = parts["rows"]
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    lines = [f"| examples a part | {' | '.join(f'{size:,}' for size in sizes)} |"]
    lines.append("|---" * (len(sizes) + 1) + "|")
    for source in dict.fromkeys(row["source"] for row in rows):
        own = [row for row in rows if row["source"] == source]
        left = " | ".join(f"{row['variation']:.3f}" for row in own)
        draws = " | ".join(f"{row['draws']:.1f}" for row in own)
        lines.append(f"| `{source}` by `{own[0]['variable']}`: total variation left | {left} |")
        lines.append(f"| draws per kept example | {draws} |")
    return "\n".join(lines)


def _mean(rows: list[dict[str, float]], name: str) -> float:
    return sum(row[name] for row in rows) / len(rows)


def _millions(rate: Rate) -> str:
    """Say the slowest and the fastest, in millions."""
    low, high = (value / 1e6 for value in rate[1:])
    places = 0 if low >= 20 else 1
    return _from_to(f"{low:.{places}f}", f"{high:.{places}f}")


def _range(rate: Rate) -> str:
    return _from_to(*map(_rounded, rate[1:]))


def _from_to(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _rounded(value: float) -> str:
    """Write a rate with two digits: more would be noise."""
    return f"{float(f'{value:.2g}'):,.0f}"
