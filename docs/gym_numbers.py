"""The numbers of docs/reasoning-gym.md, made from results/; for docs.numbers."""

from typing import Any

from docs.markdown import percent, read, table


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    result = read("reasoning_gym")
    return {
        "gym-skew": _skew(result),
        "gym-gcd": _gcd(result),
        "gym-summary": _summary(result),
        "gym-lcm": _lcm(result),
        **_blind(read("blind")),
    }


def _skew(result: dict[str, Any]) -> str:
    """Return what the library's tasks are like, with its seeds and with ours."""
    stream, neighbours = result["settings"]["stream"], result["settings"]["neighbours"]
    sides = (result["library"], result["ours"])
    rows = {
        "`gcd`: the answer is 2": [percent(side["gcd"]["two_share"]) for side in sides],
        "`gcd`: its three most frequent answers": [
            percent(side["gcd"]["top_three_share"]) for side in sides
        ],
        "`lcm`: distinct questions": [f"{side['lcm']['distinct_questions']:,}" for side in sides],
        f"`gcd`: distinct questions in {stream:,} of an endless stream": [
            f"{side['stream_distinct']:,}" for side in sides
        ],
        f"`gcd`: questions that seeds 42 and 43 share, of {neighbours}": [
            str(side["neighbours_share"]) for side in sides
        ],
    }
    heads = ("", "the library", "as a source here")
    return table(heads, ((name, *numbers) for name, numbers in rows.items()))


def _gcd(result: dict[str, Any]) -> str:
    """Return what homogenizing gcd by its answer changes."""
    columns = {"as it is": result["ours"]["gcd"]}
    columns |= {f"ε = {epsilon}": case for epsilon, case in result["gcd"].items()}
    cases = columns.values()
    rows: dict[str, list[str]] = {
        "most frequent answer": [
            f"{c['commonest']}: {percent(c['commonest_share'])}" for c in cases
        ],
        "three most frequent": [percent(c["top_three_share"]) for c in cases],
        "answers above 10": [percent(c["answers_above_10"]) for c in cases],
        "different answers": [f"{c['distinct_answers']}" for c in cases],
        "questions that repeat": [percent(1 - c["distinct_questions"] / c["rows"]) for c in cases],
        "draws per kept example": [f"{c.get('cost', 1):.1f}" for c in cases],
    }
    return table(("", *columns), ((name, *numbers) for name, numbers in rows.items()))


def _summary(result: dict[str, Any]) -> str:
    """Return three sentences about gcd as it is and homogenized."""
    before, (epsilon, after) = result["ours"]["gcd"], next(iter(result["gcd"].items()))
    return (
        f"{percent(before['commonest_share'])} of {before['rows']:,} `gcd` tasks have the answer "
        f"{before['commonest']}, and {percent(before['answers_above_10'])} have an answer above "
        f"10. After homogenizing by the answer (ε = {epsilon}), the shares are "
        f"{percent(after['commonest_share'])} and {percent(after['answers_above_10'])}. This "
        f"costs {after['cost']:.1f} draws for each kept example."
    )


def _lcm(result: dict[str, Any]) -> str:
    """Return what the repair of lcm changes."""
    sides = (result["ours"]["lcm"], result["lcm"])
    lengths = [str(length) for length in range(1, 7)]
    rows = {
        "examples": [f"{side['rows']:,}" for side in sides],
        "distinct questions": [f"{side['distinct_questions']:,}" for side in sides],
        "different answers": [f"{side['distinct_answers']:,}" for side in sides],
        "answers of 1 to 6 digits": [
            ", ".join(percent(side["lengths"].get(length, 0)) for length in lengths)
            for side in sides
        ],
        "draws per kept example": [f"{side.get('cost', 1):.1f}" for side in sides],
    }
    return table(("", "as it is", "repaired"), ((name, *numbers) for name, numbers in rows.items()))


HIGH = 0.3  # a blind score that the table names
REPEATS = 0.1  # a share of repeated questions that the page names


def _blind(result: dict[str, Any]) -> dict[str, str]:
    """Return what a policy scores that never reads the question, and which questions repeat."""
    tasks = [task for task in result["tasks"] if "blind" in task]
    high = sorted((t for t in tasks if t["blind"] >= HIGH), key=lambda task: -task["blind"])
    rows = [
        (
            f"`{task['task']}`",
            f"`{_short(task['answer'])}`",
            percent(task["share"]),
            f"{task['blind']:.2f}",
            f"{task['answers']:,}",
        )
        for task in high
    ]
    heads = ("task", "the one answer", "right in", "its score", "different answers")
    repeated = {
        task["task"]: 1 - task["distinct_questions"] / task["items"]
        for task in result["tasks"]
        if task.get("distinct_questions") and task["items"] == result["settings"]["n"]
    }
    named = sorted((t for t in repeated if repeated[t] > REPEATS), key=lambda t: -repeated[t])
    texts = [f"`{task}` {percent(repeated[task])}" for task in named]
    return {
        "gym-blind": table(heads, rows),
        "gym-blind-facts": (
            f"{len(high)} of {len(tasks)} tasks give at least {HIGH:.2f} to one answer. Of "
            f"{result['settings']['n']:,} items, more than one question in ten repeats in "
            f"{len(named)} tasks: {', '.join(texts)}."
        ),
    }


def _short(answer: str) -> str:
    """Return an answer in one line."""
    line = answer.splitlines()[0] if answer else answer
    return line if line == answer and len(line) <= 20 else f"{line[:17]}…"
