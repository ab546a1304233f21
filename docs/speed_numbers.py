"""The speeds in docs, made from results/speed.json and others; for docs.numbers.

`make speed` measures them again.
"""

from typing import Any

from docs.markdown import from_to, percent, read, table

MACHINE = "One core of a small cloud machine"
SOURCES = ("karel/msr", "karel/uniform", "karel/narrow .25 .65 U", "karel/narrow .85 .05 A")
BILLION, CORES = 10**9, 64
Rate = list[float]  # median, slowest, fastest


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    speed, cuda = read("speed"), read("karel_cuda")
    return {
        "speed": _speed(speed, cuda),
        "karel-speed": _karel(speed["karel"]),
        "karel-cuda": _cuda(cuda),
        "karel-sources": _sources(speed["karel_sources"]),
        "datasets-billion": _billion(speed["datasets"]["karel/msr"]),
        "theory-parts": _parts(read("parts")),
    }


def _speed(speed: dict[str, Any], cuda: dict[str, Any]) -> str:
    """Return the table of the design page."""
    calculator, karel, sources = speed["calculator"], speed["karel"], speed["karel_sources"]
    steps = [row["nanoseconds"] for row in speed["homogenize"]["acceptance"]]
    shares = [100 * row["acceptance"] / row["drawing"] for row in steps]
    times = [source["measured"][0] / source["plain"][0] for source in calculator.values()]
    on_gpu = cuda["cases"]["random pairs"]["ticks_per_second"]["on_device"]["median"]
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
        f"runs/s ([on a GPU](karel.md#running) {on_gpu / 1e9:.0f} G ticks/s of random pairs)",
        "Karel examples of six worlds": f"{_range(sources['karel/msr']['rate'])}/s like the "
        f"original's, {_range(sources['karel/uniform']['rate'])}/s uniform",
        "peak memory": "; ".join(f"{mib:.0f} MiB with {int(n):,} kept" for n, mib in kept),
    }
    return table(("", ""), rows.items())


def _cuda(result: dict[str, Any]) -> str:
    """Return the ticks a second on a GPU and on a CPU, case by case."""
    ways = {
        "on_device": "on the device",
        "with_transfers": "with transfers",
        "cpu_one_core": "one core",
        "cpu_all_cores": "all cores",
    }
    cases, settings = result["cases"], result["settings"]
    rows = [
        (name, *(f"{case['ticks_per_second'][way]['median'] / 1e6:,.0f}" for way in ways))
        for name, case in cases.items()
    ]
    wrong = sum(case["mismatches"] for case in cases.values())
    return table(("M ticks/s", *ways.values()), rows) + (
        f"\n\nEach case has {settings['pairs']:,} pairs; the number is the median of "
        f"{settings['repeats']} runs on {result['provenance']['hardware']}. {wrong} results differ "
        f"from those of the CPU (`results/karel_cuda.json`)."
    )


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
    """Return a row for each source: its speed, and the speed of plain rejection."""
    rows = []
    for name in SOURCES:
        facts = sources[name]
        source, space, settings = name.partition(" ")
        rows.append(
            (
                f"`{source}`{space}{settings}",
                _range(facts["rate"]),
                f"{facts['worlds']:,.0f}",
                percent(facts["dropped"]) if "dropped" in facts else "–",
                f"{facts['plain']:.0f}/s",
            )
        )
    heads = ("source", "examples/s", "worlds drawn for six", "programs dropped", "plain rejection")
    return table(heads, rows)


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
    """Return for each source what skew is left, and what it costs, by the size of a part."""
    sizes = list(dict.fromkeys(row["size"] for row in parts["rows"]))
    lines = []
    for source in dict.fromkeys(row["source"] for row in parts["rows"]):
        rows = [row for row in parts["rows"] if row["source"] == source]
        name = f"`{source}` by `{rows[0]['variable']}`: total variation left"
        lines.append((name, *(f"{row['variation']:.3f}" for row in rows)))
        lines.append(("draws per kept example", *(f"{row['draws']:.1f}" for row in rows)))
    return table(("examples a part", *(f"{size:,}" for size in sizes)), lines)


def _mean(rows: list[dict[str, float]], name: str) -> float:
    return sum(row[name] for row in rows) / len(rows)


def _millions(rate: Rate) -> str:
    """Write the slowest and the fastest rate in millions."""
    low, high = (value / 1e6 for value in rate[1:])
    places = 0 if low >= 20 else 1
    return from_to(f"{low:.{places}f}", f"{high:.{places}f}")


def _range(rate: Rate) -> str:
    return from_to(*map(_rounded, rate[1:]))


def _rounded(value: float) -> str:
    """Write a rate with two digits; more digits would be noise."""
    return f"{float(f'{value:.2g}'):,.0f}"
