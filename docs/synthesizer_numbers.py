"""The numbers of docs/synthesizer.md, made from results/; for docs.numbers."""

from functools import cache
from typing import Any

from docs.markdown import ROOT, read, table
from unskew.domains.karel.variables import LONGEST

SHIPPED = ROOT / "src" / "unskew" / "models" / "karel" / "shipped.safetensors"
TESTS = ("msr-test", "uniform-test")
WAYS = ("exact", "generalizes, any", "generalizes, first consistent")
BEGUN = {"rates by inputs": "slower layer", "both": "differences, slower layer"}
Scores = dict[str, dict[str, dict[str, Any]]]  # test set: shares by how a solution is counted


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    return {
        "synthesizer-accuracy": _accuracy(),
        "synthesizer-more": _more(),
        "synthesizer-seeing": _seeing(),
        "synthesizer-speed": f"{_speed(read('karel_model_speed'))}\n{_streamed()}",
    }


def _accuracy() -> str:
    """Return a row for each model: what it solves, counted in several ways."""
    single = read("karel_synthesizer")
    stream = f"a stream of `karel/msr`, each example used twice: {_took('baseline')}"
    rows = [_row(stream, "in the stream too, as in the original", _entries("baseline"))]
    steps = single["full"]["metrics"][-1]["step"]
    timed = f"the same, stopped after 5 minutes: {steps:,} steps"
    rows.append(_row(timed, "in the stream too", [_shares(single["full"]["evaluation"])]))
    if longer := _entries("baseline, twice as long"):
        took = _took("baseline, twice as long")
        rows.append(_row(f"the same: {took}", "in the stream too", longer))
    rows.append(_fixed_row(read("karel_train")))
    shipped = "a stream of `karel/uniform`, 3.5 minutes, 1 to 5 pairs: the shipped model"
    rows.append(_row(shipped, "left out", [_shares(single["shipped"]["evaluation"])]))
    heads = ("trained on", "test programs", "seeds", "original test set", "exact", "any of 64")
    return table((*heads, "first consistent", "uniform test set"), rows)


def _seeing() -> str:
    """Return a row for each start: the loss on new tasks, and the loss with other worlds."""
    rows = []
    for path in sorted((ROOT / "results" / "karel_seeing").glob("*.json"), reverse=True):
        bench = read(f"karel_seeing/{path.stem}")
        longest = bench["longest"]
        for way, run in bench["ways"].items():
            step, last = run["step"], run["curve"][-1]
            rows.append(
                (
                    "full" if run["model"]["channels"] == 64 else "a quarter",
                    bench["worlds"],
                    f"to {longest} tokens" if longest < LONGEST else "all",
                    f"{last['step']:,} of {step['batch']:,}",
                    f"{step['rate']:g}",
                    BEGUN.get(way, way),
                    f"{last['loss']:.3f}",
                    f"{round(last['more'], 3) + 0.0:.3f}",
                )
            )
    heads = ("network", "worlds", "programs", "batches", "rate", "begun", "loss")
    return table((*heads, "more with other worlds"), rows)


@cache
def _trained(name: str) -> list[dict[str, Any]]:
    """Return the entries of a model of the experiments, seed by seed."""
    paths = (ROOT / "results" / "karel" / "entries").glob("*.json")
    entries = (read(f"karel/entries/{path.stem}") for path in paths)
    return sorted((e for e in entries if e["name"] == name), key=lambda entry: entry["seed"])


def _entries(name: str) -> list[Scores]:
    """Return the scores of a model of the experiments, seed by seed."""
    return [{test: entry["scores"][test]["shares"] for test in TESTS} for entry in _trained(name)]


def _took(name: str) -> str:
    """Return how many steps a model was trained, and for how long if it had the GPU to itself."""
    entries = _trained(name)
    alone = [entry["seconds"] for entry in entries if entry["at_once"] == 1]
    seconds = f", {max(alone):.0f} s alone on the GPU" if alone else ""
    return f"{entries[0]['steps']:,} steps{seconds}"


def _more() -> str:
    """Return two more facts: about new programs, and about the shipped model."""
    unseen = read("karel_train")["unseen"]["generalization"]
    shares = read("karel_synthesizer")["shipped"]["evaluation"]["karel/problems"]
    solved, first = (shares["shares"][way] for way in ("generalizes", WAYS[-1]))
    size = SHIPPED.stat().st_size / 2**20
    return (
        f"- **New programs.** The model of the fixed million solves {unseen:.1f} % of the tasks "
        f"whose program is not in that million. Half of all tasks have a short program, which any "
        f"large set contains.\n"
        f"- **The shipped model** has {size:.1f} MiB. Of the {solved['n']} problems of "
        f"`karel/problems` it solves {solved['hits']} with its first candidate, and "
        f"{first['hits']} with the first of {shares['beam']} candidates that is right on the shown "
        f"worlds."
    )


def _streamed() -> str:
    """Return how fast training runs while other processes make its stream."""
    alone = [entry for entry in _trained("baseline") if entry["at_once"] == 1]
    speeds = [e["examples"] / e["seconds"] for e in alone]
    return (
        f"- **With a stream.** While 15 processes make the stream, training runs at "
        f"{min(speeds):,.0f} examples/s at a batch of 2,048."
    )


def _shares(evaluation: dict[str, Any]) -> Scores:
    return {test: evaluation[f"karel/{test}"]["shares"] for test in TESTS}


def _row(trained: str, programs: str, seeds: list[Scores]) -> list[str]:
    def percent(test: str, way: str) -> str:
        values = [100 * scores[test][way]["share"] for scores in seeds]
        mean = sum(values) / len(values)
        listed = f" ({', '.join(f'{value:.1f}' for value in values)})" if len(values) > 1 else ""
        return f"{mean:.1f} %{listed if way == 'generalizes' else ''}"

    cells = [percent(TESTS[0], way) for way in ("generalizes", *WAYS)]
    return [trained, programs, str(len(seeds)), *cells, percent(TESTS[1], "generalizes")]


def _fixed_row(result: dict[str, Any]) -> list[str]:
    scores = result["as they come"]
    names = ("generalization", "exact", "generalization_of_any")
    cells = [f"{scores[name]:.1f} %" for name in (*names, "generalization_of_first_consistent")]
    trained = f"{result['settings']['tasks']:,} examples of `karel/msr`, 5 minutes"
    return [f"{trained}, {result['passes']:.0f} passes", "by chance", "1", *cells, ""]


def _speed(result: dict[str, Any]) -> str:
    """Return how long a step takes, what takes the time, and how long decoding takes."""
    fast, plain = result["fast"], result["plain"]["2048"]
    parts = result["split_ms"]["2048"]
    whole = sum(parts.values())
    split = ", ".join(f"{name} {100 * part / whole:.0f} %" for name, part in parts.items())
    beam = result["beam"]
    return (
        f"- **A training step** takes {fast['2048']['milliseconds']:.1f} ms at a batch of 2,048 "
        f"({fast['2048']['examples_per_second']:,} examples/s) and "
        f"{fast['4096']['milliseconds']:.1f} ms at 4,096 "
        f"({fast['4096']['examples_per_second']:,}). This is {plain['fast_over_plain']} times as "
        f"fast as PyTorch's own modules, compiled, in the same run.\n"
        f"- **Where the time goes**: {split}.\n"
        f"- **Decoding** {beam['tasks']:,} tasks at beam {beam['beam']} takes "
        f"{beam['seconds']['float32']:.1f} s.\n"
        f"- **Hardware**: {result['provenance']['hardware']}."
    )
