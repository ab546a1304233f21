"""The Karel numbers of README and docs, made from the entries in results/; for docs.numbers."""

from functools import cache
from itertools import product
from statistics import mean
from typing import Any

from docs.markdown import ROOT, from_to, read, table
from unskew.domains.karel.sources import TRIES
from unskew.experiments import KAREL, load_experiment
from unskew.experiments.karel.experiments import BY_ACTIONS, PAPER
from unskew.experiments.karel.lab.lab import Lab
from unskew.experiments.karel.lab.scales import SCALES
from unskew.experiments.karel.lab.tables import FIRST_CONSISTENT, GENERALIZES, own_and_others
from unskew.experiments.karel.lab.test_sets import (
    ACTIONS,
    COVERED,
    NESTED,
    ORIGINAL,
    UNIFORM,
    narrow_names,
)
from unskew.experiments.karel.lab.trainings import seeds_of, training
from unskew.experiments.table import Table
from unskew.experiments.terminal import cell_text

BEST = "beyond, wider"  # the best of the models that were run
WORK = ROOT / "results" / "karel"  # the working folder of the full scale
SUMMARY = {  # the rows of the README's table, by test set
    ORIGINAL: "original test set, recreated",
    UNIFORM: "same programs, uniform worlds",
    "narrow-0.05-0.85-G": "few walls, many cells with one or two markers",
    "narrow-0.05-0.85-A": "few walls, many cells with eight or nine markers",
    "narrow-0.85-0.05-A": "many walls, few markers",
    NESTED[0]: "a loop inside a loop",
    COVERED[0]: "a loop inside a loop, in worlds that run both",
    ACTIONS: "one to eight actions, no loops",
}
FULL = SCALES["full"]
NARROW = [f"narrow-{name}" for name in narrow_names(FULL)]
KINDS = ("baseline", "uniform")  # of the paper's models in the README's table
BASELINE, EVEN = (
    {test: numbers[kind] for test, numbers in PAPER.items() if kind in numbers} for kind in KINDS
)
ONE_ACTION, EIGHT = (f"{BY_ACTIONS['baseline'][n - 1]:.0f}" for n in (1, 8))  # of the paper
SHOWN = ", 1 to 5 pairs"
PASSES = f"{FULL.whole_steps * FULL.batch / FULL.whole:.0f} passes"


def results() -> dict[str, dict[str, Any]]:
    """Return the result of every Karel experiment with what was run at full scale."""
    return {name: load_experiment(name).run(Lab("full", WORK), only=["none"]) for name in KAREL}


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    experiments = results()
    return {name: _experiment(result) for name, result in experiments.items()} | {
        "karel-summary": _summary(),
        "karel-regimes": _regimes(),
        "karel-reading": _reading(),
        "karel-found": _findings(experiments),
        "karel-differences": _differences(experiments),
        "karel-trainings": _trainings(experiments),
        "karel-dropped": _dropped(experiments["karel-narrow-sets"]["tests"]),
    }


def _experiment(result: dict[str, Any]) -> str:
    return "\n\n".join(
        f"**{data['title']}** ({data['unit']})\n\n{_table(data)}"
        + (f"\n\n{data['note']}" if "note" in data else "")
        for data in result["tables"]
    )


def _table(data: dict[str, Any]) -> str:
    """Return a table with a row for each test set and a column for each model that was run."""
    result = Table.of(data)
    were_run = {cell.row for cell in result.cells if cell.ours is not None}
    models = [model for model in result.rows if model in were_run]
    missing = [f"*{model}*" for model in result.rows if model not in were_run]
    if not models:
        return "Not run yet."
    rows = (
        (column, *(cell_text(result.places[model, column], result.unit) for model in models))
        for column in result.columns
    )
    not_run = f"\n\nNot run yet: {', '.join(missing)}." if missing else ""
    return table(("", *models), rows) + not_run


def _summary() -> str:
    """Return the table of the README: the paper's numbers next to ours."""
    heads = ["% solved"]
    for kind in KINDS:
        heads += [f"{kind}: paper", f"{kind}: {PASSES}", f"{kind}: stream"]
    heads += ["one for all: stream", "one for all: first that fits"]
    rows = []
    for test, title in SUMMARY.items():
        row = [title]
        for kind, paper in zip(KINDS, (BASELINE, EVEN), strict=True):
            number = f"{paper[test]:g}" if test in paper else ""
            row += [number, _solved(f"{kind}, whole", test), _solved(kind, test)]
        rows.append([*row, _solved(BEST, test), f"{_mean(BEST, test, FIRST_CONSISTENT):.1f}"])
    return table(heads, rows)


def _solved(model: str, test: str) -> str:
    """Return the mean over the seeds that were run, and their range."""
    values = _values(model, test)
    if not values:
        return "–"
    spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
    return f"{mean(values):.1f}{spread}"


def _values(model: str, test: str, way: str = GENERALIZES) -> list[float]:
    """Return what each seed solves of a test set, in percent."""
    return [_percent(scores[test]["shares"][way]) for scores in _scores(model) if test in scores]


def _percent(share: dict[str, int]) -> float:
    return 100 * share["hits"] / share["n"]


@cache
def _scores(model: str) -> list[dict[str, dict[str, Any]]]:
    """Return the scores of each seed by test set."""
    lab = Lab("full", WORK)
    entries = [lab.known(training(model, FULL, seed)) for seed in seeds_of(model, FULL)]
    return [entry.get("scores", {}) for entry in entries]


def _mean(model: str, test: str, way: str = GENERALIZES) -> float:
    """Return the mean over the seeds that were run."""
    values = _values(model, test, way)
    if not values:
        raise SystemExit(f"{WORK} has no score of {model} on {test}; run it, or leave it out")
    return mean(values)


def _regimes() -> str:
    """Return the footnote of the README's table; ``_reading`` has the rest."""
    return (
        f"*{PASSES}*: the model sees a fixed set of {FULL.whole:,} examples, as many as the "
        f"original has, {PASSES.removesuffix(' passes')} times; *stream*: new examples all the "
        f"time, each used at most {FULL.reuse} times. A range is that of two or three seeds; a "
        f"blank means that the paper has no such number, and – means that we did not run it. The "
        f"last column takes the first of several candidates that is right on the shown worlds, as "
        f"`unskew synthesize` does; all others take the model's first program "
        f"([how to read this table](docs/reproduction.md#how-to-read-the-karel-table))."
    )


def _reading() -> str:
    """Return what else the readers of the README's table should know."""
    passed, streamed = (
        f"{steps * FULL.batch / 1e6:.0f} M" for steps in (FULL.whole_steps, FULL.steps)
    )
    common = [_scores("uniform, whole")[0][test]["common"] for test in list(SUMMARY)[:5]]
    shares = [_percent(share) for share in common]
    return "\n".join(
        (
            f"- **Training.** A model sees {passed} examples in {PASSES} and {streamed} examples "
            f"of a stream.",
            "- **Seeds.** A number without a range is of one seed. Seeds may differ much.",
            f"- **One for all** is the model [`{BEST}`]"
            f"(reproduction-tables.md#one-model-for-all-of-it), which is not in the paper. Its "
            f"streams mix uniform worlds and worlds like the original's; some are homogenized by "
            f"a variable of the program.",
            "- **Test programs** are not kept out of training, as in the original.",
            "- **Missing programs.** A program is left out if it has no valid worlds that take "
            "every branch: in the fifth row one program in five.",
            f"- **The same programs everywhere.** {common[0]['n']:,} programs have worlds in all "
            f"fourteen test sets that share their programs. On these, *uniform: {PASSES}* solves "
            f"{min(shares):.0f} to {max(shares):.0f} %.",
            f"- **First that fits.** The candidates are {FULL.wide_beam} in the first two rows "
            f"and {FULL.beam} in the others. In the last row all worlds are shown and none is "
            f"held out.",
            "- **Nested loops.** The paper does not say how it counts them "
            "([more](reproduction-tables.md#where-we-differ)).",
        )
    )


def _findings(experiments: dict[str, dict[str, Any]]) -> str:
    """Return the findings as a list, each with its numbers and a link to its table."""

    def ours(experiment: str, model: str, column: str) -> float:
        """Return our mean in a cell of the first table of an experiment."""
        cells = experiments[experiment]["tables"][0]["cells"]
        by_place = {(cell["row"], cell["column"]): cell["ours"] for cell in cells}
        return float(by_place[model, column]["mean"])

    base, even = "baseline, whole", "uniform, whole"
    solved = [_mean(even, test) for test in EVEN]
    full = "narrow-0.05-0.85-A"
    fixed, fresh = f"msr {FULL.passed:,}", "msr stream"
    best = [_values(BEST, test)[0] for test in (ORIGINAL, UNIFORM, ACTIONS)]
    own, others = own_and_others(experiments["karel-narrow-training"]["tables"][0]["cells"])
    one, five = (
        [ours("karel-grids", name, shown) for name in ("baseline", f"baseline{SHOWN}")]
        for shown in ("1", "5")
    )
    first, most = (ours("karel-real-world", m, "first candidate") for m in ("baseline", BEST))
    whole = [ours("karel-actions", base, length) for length in ("1", "8")]
    return "\n".join(
        (
            f"- **Other worlds break the baseline.** After {PASSES} it solves "
            f"{_mean(base, ORIGINAL):.1f} % of the recreated original test set (paper: "
            f"{BASELINE[ORIGINAL]}), {_mean(base, UNIFORM):.1f} % of the same programs in "
            f"uniform worlds (paper: {BASELINE[UNIFORM]}), and {_mean(base, full):.1f} % "
            f"in worlds full of markers (paper: {BASELINE[full]}). "
            f"[Tables](reproduction-tables.md#original-and-uniform-worlds)",
            f"- **Uniform worlds repair this.** The uniform model solves {min(solved):.1f} to "
            f"{max(solved):.1f} % of the twelve narrow sets (paper: "
            f"{min(EVEN.values())} to {max(EVEN.values())}). "
            f"[Table](reproduction-tables.md#narrow-test-sets)",
            f"- **Repeating a small set makes it worse.** At equal compute, "
            f"{FULL.passed:,} examples seen a hundred times give {_mean(fixed, ORIGINAL):.1f} % on "
            f"the original test set and {_mean(fixed, UNIFORM):.1f} % on uniform worlds. A stream "
            f"gives {_mean(fresh, ORIGINAL):.1f} and {_mean(fresh, UNIFORM):.1f} %. "
            f"[Tables](reproduction-tables.md#why-the-baseline-breaks)",
            f"- **Nested loops: we differ.** Our baseline solves {_mean(base, NESTED[0]):.0f} % of "
            f"the tasks with a loop inside a loop; the paper's solves "
            f"{BASELINE[NESTED[0]]} %. Almost all of ours are solved by another program "
            f"than the true one. [Why](reproduction-tables.md#where-we-differ)",
            f"- **Short programs are hard for the baseline.** It solves {whole[0]:.0f} % of the "
            f"programs of one action and {whole[1]:.0f} % of those of eight (paper: "
            f"{ONE_ACTION} and {EIGHT}). "
            f"[Table](reproduction-tables.md#programs-of-actions-alone)",
            f"- **Training with one to five pairs helps where few are shown.** With one pair, the "
            f"baseline on a stream goes from {one[0]:.1f} to {one[1]:.1f} % of the original test "
            f"set. With five pairs the two are close ({five[0]:.1f} and {five[1]:.1f} %). "
            f"[Tables](reproduction-tables.md#number-of-grids)",
            f"- **Real-world problems stay hard.** Of 41 problems the baseline solves {first:.1f} "
            f"(mean of three seeds), and our best model {most:.0f}. The paper's baseline solves 4 "
            f"of 36 others. [Table](reproduction-tables.md#real-world-problems)",
            f"- **A model of narrow worlds is good at home only.** It solves {mean(own):.1f} % of "
            f"its own distribution on average, and {mean(others):.1f} % of another one. "
            f"[Table](reproduction-tables.md#training-on-narrow-worlds)",
            f"- **One model for all test sets** (not in the paper) solves {best[0]:.1f} % of "
            f"the original test set, {best[1]:.1f} % of uniform worlds, and {best[2]:.1f} % of the "
            f"programs of actions alone. [Tables](reproduction-tables.md#one-model-for-all-of-it)",
        )
    )


def _differences(experiments: dict[str, dict[str, Any]]) -> str:
    """Return where our numbers differ most from the paper's."""
    whole, stream = (
        {kind: _mean(f"{kind}{end}", ORIGINAL) for kind in KINDS} for end in (", whole", "")
    )
    low = [test for test in NARROW if BASELINE[test] < 3]
    papers = [BASELINE[test] for test in low]
    ours, few = ([_mean(f"baseline, {end}", test) for test in low] for end in ("whole", "passes"))
    seeds = ", ".join(f"{value:.1f}" for value in sorted(_values("baseline", low[1])))
    rows = _scores("baseline, whole")[0][ACTIONS]["by"]["actions"]
    lengths = [_percent(row) for row in rows]
    return "\n".join(
        (
            _nested(),
            f"- **Where the paper's baseline is near zero.** On the {len(low)} narrow sets with "
            f"many cells that hold many markers, the paper's baseline solves {min(papers)} to "
            f"{max(papers)} %. Ours solves {min(ours):.1f} to {max(ours):.1f} % after {PASSES}, "
            f"and {min(few):.1f} to {max(few):.1f} % after a hundred passes over an eighth of the "
            f"data. On a stream the seeds differ: they solve {seeds} % of `{low[1]}`.",
            f"- **The original test set.** The paper's baseline is better than its uniform model "
            f"there (figure 2, which gives no number). Ours is better on a stream "
            f"({stream['baseline']:.1f} against {stream['uniform']:.1f} %) and worse after {PASSES}"
            f" ({whole['baseline']:.1f} against {whole['uniform']:.1f} %), both on the recreated "
            f"set. A likely cause is the number of pairs: the uniform model sees one to five, "
            f"which are harder to learn by heart. After a hundred passes over the same "
            f"{FULL.passed:,} examples of uniform worlds, a model that always sees five solves "
            f"{_mean(f'uniform {FULL.passed:,}', ORIGINAL):.1f} %, and a model that sees one to "
            f"five solves {_mean('uniform, passes', ORIGINAL):.1f} % (one seed each).",
            f"- **Short programs.** From one to eight actions, the paper's baseline goes from "
            f"{ONE_ACTION} to {EIGHT} %. After {PASSES}, ours goes "
            f"from {lengths[0]:.0f} to {lengths[-1]:.0f} %.",
            _narrow_trained(experiments["karel-narrow-training"]["tables"][0]),
        )
    )


def _nested() -> str:
    """Return what the paper and we found for nested loops."""
    model = "baseline, whole"
    solved, exact = (
        [_mean(model, test, way) for test in (*NESTED, *COVERED)] for way in (GENERALIZES, "exact")
    )
    nested = read("karel_nested")["sets"].values()
    tasks, right, by_nesting = (
        sum(facts[name] for facts in nested) for name in ("tasks", "solved", "by nesting")
    )
    return (
        f"- **Nested loops.** The paper's baseline has an accuracy of {BASELINE[NESTED[0]]} "
        f"and {BASELINE[NESTED[1]]} % (*while in while* and *while in if*). After {PASSES}, "
        f"ours solves {solved[0]:.0f} and {solved[1]:.0f} %. Where the shown worlds take every "
        f"branch, it solves {solved[2]:.0f} and {solved[3]:.0f} %. Its exact matches are "
        f"{exact[0]:.2f} and {exact[1]:.2f} % ({exact[2]:.2f} and {exact[3]:.2f} % where the "
        f"shown worlds take every branch). So it solves nearly all of these tasks by another "
        f"program than the true one. We counted for one model only whether such programs nest: "
        f"the shipped one, a smaller network, trained for 3.5 minutes on uniform worlds, without "
        f"the programs of these test sets. It solves {right:,} of {tasks:,} such tasks, and "
        f"{by_nesting} of them by a program that nests in this way "
        f"([results](../results/karel_nested.json)). This does not tell how the baseline solves "
        f"them. The paper does not say whether it counts exact matches. It also does not say "
        f"whether other programs could fit its worlds."
    )


def _narrow_trained(data: dict[str, Any]) -> str:
    """Return how models of narrow worlds do on their own distribution and on others."""
    own, others = own_and_others(data["cells"])
    names = narrow_names(FULL)
    uniform = [_mean("narrow uniform", f"narrow-{name}") for name in names]
    solved = {
        (model, test): _mean(f"narrow {model}", f"narrow-{test}")
        for model, test in product(names, names)
    }
    equal = sum(
        solved[model, test] >= solved[test, test] for model, test in solved if model != test
    )
    seen = f"{FULL.narrow_steps * FULL.batch / 1e6:.1f} M"
    return (
        f"- **Training on narrow worlds.** The paper's models solve 60 to 70 % of their own "
        f"distribution and rarely as much of another one. Its uniform model solves about as much "
        f"of all. Ours show the same at a lower level, after {seen} examples. They solve "
        f"{min(own):.1f} to {max(own):.1f} % of their own distribution ({mean(own):.1f} % on "
        f"average) and {mean(others):.1f} % of another one on average. In {equal} of {len(others)} "
        f"cases a model solves as much of a distribution as the model that was trained on it. A "
        f"model of uniform worlds, trained as long, solves {min(uniform):.1f} to "
        f"{max(uniform):.1f} %. Longer training would probably raise all of them; we did not try."
    )


def _dropped(tests: dict[str, dict[str, int]]) -> str:
    """Return how many programs of the recreated original test set the other sets leave out."""
    left_out = {name: facts["dropped"] for name, facts in tests.items()}
    walled = "karel/narrow-0.85"
    walls = [n for name, n in left_out.items() if name.startswith(walled)]
    narrow = [n for name, n in left_out.items() if "narrow" in name and not name.startswith(walled)]
    common = _scores("baseline")[1][ORIGINAL]["common"]["n"]
    return (
        f"Some programs are left out of a test set, because they have no valid worlds or because "
        f"{TRIES:,} draws found none. Worlds are valid where no run crashes and the shown worlds "
        f"together take every branch. (The paper asks for every branch in uniform worlds only; we "
        f"ask for it in narrow worlds too.) Left out are "
        f"{left_out['karel/uniform-test']} of {tests['karel/msr-test']['tasks']:,} programs in the "
        f"uniform set, {min(narrow)} to {max(narrow)} in the narrow ones, and {min(walls)} to "
        f"{max(walls)} where 85 % of the cells are walls. The report also gives the accuracy on "
        f"the {common:,} tasks whose programs are in all sets."
    )


def _trainings(experiments: dict[str, dict[str, Any]]) -> str:
    """Return a table of the trained models: on what, how long, with how many seeds."""
    by_name: dict[str, dict[str, dict[str, Any]]] = {}
    for result in experiments.values():
        for run in result["trainings"]:
            by_name.setdefault(run["name"], {}).setdefault(run["hash"], run)
    rows = []
    for name, runs in by_name.items():
        first, *_ = runs.values()
        low, high = first["shown"]
        rows.append(
            (
                name,
                first["data"],
                from_to(str(low), str(high)),
                ", ".join(str(run["seed"]) for run in runs.values()),
                f"{first['examples'] / 1e6:.1f} M",
                f"{first['passes']:g}",
                " / ".join(_seconds(run) for run in runs.values()),
            )
        )
    heads = ("model", "trained on", "pairs shown", "seeds", "examples", "passes", "seconds")
    return table(heads, rows)


def _seconds(run: dict[str, Any]) -> str:
    """Return how long a training took, and how many trainings ran at the same time."""
    at_once = f" ({run['at_once']} at once)" if run["at_once"] > 1 else ""
    return f"{run['seconds']:.0f}{at_once}"
