"""The figures of docs/synthesizer.md, made from results/; for docs.numbers."""

import json
from pathlib import Path
from typing import Any

from unskew.domains.karel.variables import LONGEST

ROOT = Path(__file__).parents[1]
TESTS = ("msr-test", "uniform-test")
WAYS = ("exact", "generalizes, any", "generalizes, first consistent")
BEGUN = {"rates by inputs": "slower layer", "both": "differences, slower layer"}
Scores = dict[str, dict[str, dict[str, Any]]]  # test set: shares by how a solution is counted


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    speed = _read("results/karel_model_speed.json")
    return {
        "synthesizer-accuracy": _accuracy(),
        "synthesizer-more": _more(),
        "synthesizer-seeing": _seeing(),
        "synthesizer-speed": f"{_speed(speed)} {_streamed()}",
    }


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return found


def _accuracy() -> str:
    """One row a model: what the first candidate solves, and by other ways to count."""
    heads = ("trained on", "test programs", "seeds", "original test set", "exact", "any of 64")
    heads += ("first consistent", "uniform test set")
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    single = _read("results/karel_synthesizer.json")
    rows.append(_row(f"an endless stream of `karel/msr`, each example twice: {_took('baseline')}",
                     "in the stream too, as in the original", _entries("baseline")))  # fmt: skip
    boxed = [_shares(single["full"]["evaluation"])]
    steps = single["full"]["metrics"][-1]["step"]
    rows.append(_row(f"the same, boxed by time: 5 minutes, {steps:,} steps", "likewise", boxed))
    if longer := _entries("baseline, twice as long"):
        rows.append(_row(f"the same: {_took('baseline, twice as long')}", "likewise", longer))
    rows.append(_fixed_row(_read("results/karel_train.json")))
    shipped = [_shares(single["shipped"]["evaluation"])]
    rows.append(_row("a stream of `karel/uniform`, 3.5 minutes, 1 to 5 pairs: the shipped model",
                     "left out", shipped))  # fmt: skip
    return "\n".join(rows)


def _seeing() -> str:
    """One row a start: the loss on new tasks, and what the worlds of other tasks add to it."""
    heads = ("network", "worlds", "programs", "batches", "rate", "begun", "loss")
    heads += ("more with other worlds",)
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for path in sorted((ROOT / "results" / "karel_seeing").glob("*.json"), reverse=True):
        bench = json.loads(path.read_text(encoding="utf-8"))
        for way, run in bench["ways"].items():
            step, last = run["step"], run["curve"][-1]
            network = "full" if run["model"]["channels"] == 64 else "a quarter"
            longest = bench["longest"]
            programs = f"to {longest} tokens" if longest < LONGEST else "all"
            begun = BEGUN.get(way, way)
            batches = f"{last['step']:,} of {step['batch']:,}"
            losses = f"{last['loss']:.3f}", f"{round(last['more'], 3) + 0.0:.3f}"
            setting = network, bench["worlds"], programs, batches, f"{step['rate']:g}", begun
            rows.append(f"| {' | '.join(setting + losses)} |")
    return "\n".join(rows)


def _trained(name: str) -> list[dict[str, Any]]:
    """Return the entries of a model of the experiments, seed by seed."""
    paths = (ROOT / "results").glob("karel/*/*.json")
    found = (_read(str(path.relative_to(ROOT))) for path in paths)
    return sorted((e for e in found if e["name"] == name), key=lambda entry: entry["seed"])


def _entries(name: str) -> list[Scores]:
    """Return the scores of a model of the experiments, seed by seed."""
    return [{test: entry["scores"][test]["shares"] for test in TESTS} for entry in _trained(name)]


def _took(name: str) -> str:
    """Say how many steps a model was trained, and for how long where it had the GPU to itself."""
    found = _trained(name)
    alone = [entry["seconds"] for entry in found if entry["at_once"] == 1]
    seconds = f", {max(alone):.0f} s alone on the GPU" if alone else ""
    return f"{found[0]['steps']:,} steps{seconds}"


def _more() -> str:
    """What the table does not say: programs that are new, and the shipped model's size."""
    unseen = _read("results/karel_train.json")["unseen"]["generalization"]
    shares = _read("results/karel_synthesizer.json")["shipped"]["evaluation"]["karel/problems"]
    solved, first = (shares["shares"][way] for way in ("generalizes", WAYS[-1]))
    size = (
        ROOT / "src" / "unskew" / "models" / "karel" / "shipped.safetensors"
    ).stat().st_size / 2**20
    return (
        f"Of programs that were not among the fixed million its model solves {unseen:.1f} %: half "
        f"of all tasks have short programs that any large set contains. The shipped model is "
        f"{size:.1f} MiB and solves {solved['hits']} of the {solved['n']} problems of "
        f"`karel/problems` with its first candidate, {first['hits']} with the first of "
        f"{shares['beam']} that does what is shown."
    )


def _streamed() -> str:
    """How fast training runs while a stream is made beside it."""
    alone = [entry for entry in _trained("baseline") if entry["at_once"] == 1]
    speeds = [e["examples"] / e["seconds"] for e in alone]
    return (
        f"With a stream made by 15 processes beside it, training runs at "
        f"{min(speeds):,.0f} examples/s at a batch of 2,048."
    )


def _shares(evaluation: dict[str, Any]) -> Scores:
    return {test: evaluation[f"karel/{test}"]["shares"] for test in TESTS}


def _row(trained: str, programs: str, seeds: list[Scores]) -> str:
    def percent(test: str, way: str) -> str:
        values = [100 * scores[test][way]["share"] for scores in seeds]
        mean = sum(values) / len(values)
        each = f" ({', '.join(f'{value:.1f}' for value in values)})" if len(values) > 1 else ""
        return f"{mean:.1f} %{each if way == 'generalizes' else ''}"

    cells = [percent(TESTS[0], "generalizes"), *(percent(TESTS[0], way) for way in WAYS)]
    cells.append(percent(TESTS[1], "generalizes"))
    return f"| {trained} | {programs} | {len(seeds)} | {' | '.join(cells)} |"


def _fixed_row(result: dict[str, Any]) -> str:
    found = result["as they come"]
    names = ("generalization", "exact", "generalization_of_any")
    cells = [f"{found[name]:.1f} %" for name in (*names, "generalization_of_first_consistent")]
    trained = f"{result['settings']['tasks']:,} examples of `karel/msr`, 5 minutes"
    return (
        f"| {trained}, {result['passes']:.0f} passes | as they come | 1 | {' | '.join(cells)} | |"
    )


def _speed(result: dict[str, Any]) -> str:
    """Examples a second, and where the time of a step goes."""
    fast, plain = result["fast"], result["plain"]["2048"]
    parts = result["split_ms"]["2048"]
    whole = sum(parts.values())
    split = ", ".join(f"{name} {100 * part / whole:.0f} %" for name, part in parts.items())
    beam = result["beam"]
    return (
        f"A training step takes {fast['2048']['milliseconds']:.1f} ms at a batch of 2,048 "
        f"({fast['2048']['examples_per_second']:,} examples/s) and "
        f"{fast['4096']['milliseconds']:.1f} ms at 4,096 "
        f"({fast['4096']['examples_per_second']:,}), {plain['fast_over_plain']} times as fast as "
        f"PyTorch's own modules, compiled, in the same run. Of it: {split}. "
        f"{beam['tasks']:,} tasks are decoded at beam {beam['beam']} in "
        f"{beam['seconds']['float32']:.1f} s. ({result['provenance']['hardware']}.)"
    )
