"""What is skewed in reasoning-gym's gcd and lcm, and what is left of it after one command.

python -m bench.reasoning_gym -o results/reasoning_gym.json
"""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import unskew
from bench.results import options, save
from unskew.core.rng import generator
from unskew.domains import load_domain

N, STREAM, NEIGHBOURS, SEED = 20_000, 5_000, 500, 0
LIBRARY_SEED = 42
EPSILONS = (0.025, 0.005, 0.001)


def main() -> None:
    chosen = options(__doc__).parse_args()
    result = {
        "bench": "reasoning_gym",
        "settings": {"n": N, "stream": STREAM, "neighbours": NEIGHBOURS, "seed": SEED}
        | {"library_seed": LIBRARY_SEED, "reasoning_gym": version("reasoning-gym")},
        "library": library(),
        "ours": ours(),
        "gcd": {str(epsilon): after_gcd(epsilon) for epsilon in EPSILONS},
        "lcm": after_lcm(),
    }
    print(json.dumps(result, indent=1))
    save(chosen.output, result)


def library() -> dict[str, Any]:
    """The library as it is, with its own seeds."""
    from reasoning_gym import create_dataset
    from reasoning_gym.dataset import ReseedingDataset

    endless = iter(ReseedingDataset(create_dataset("gcd", size=500, seed=LIBRARY_SEED), 500))
    seeds = (LIBRARY_SEED, LIBRARY_SEED + 1)
    pairs = [questions(create_dataset("gcd", size=NEIGHBOURS, seed=seed)) for seed in seeds]
    return {
        "gcd": figures(create_dataset("gcd", size=N, seed=LIBRARY_SEED)),
        "lcm": figures(create_dataset("lcm", size=N, seed=LIBRARY_SEED)),
        "stream_distinct": len(set(questions(islice(endless, STREAM)))),
        "neighbours_share": len(set(pairs[0]) & set(pairs[1])),
    }


def ours() -> dict[str, Any]:
    """The same tasks as sources, each item with a spawned seed."""
    neighbours = [
        questions(drawn("gcd", NEIGHBOURS, seed)) for seed in (LIBRARY_SEED, LIBRARY_SEED + 1)
    ]
    return {
        "gcd": figures(drawn("gcd", N, SEED)),
        "lcm": figures(drawn("lcm", N, SEED)),
        "stream_distinct": len(set(questions(drawn("gcd", STREAM, SEED)))),
        "neighbours_share": len(set(neighbours[0]) & set(neighbours[1])),
    }


def after_gcd(epsilon: float) -> dict[str, Any]:
    """unskew generate reasoning-gym/gcd --homogenize answer --epsilon … -n 20000"""
    return made({"source": "reasoning-gym/gcd", "homogenize": ("answer",), "epsilon": epsilon})


def after_lcm() -> dict[str, Any]:
    """unskew generate reasoning-gym/lcm --set max_value=1000 --homogenize answer_length …"""
    return made(
        {
            "source": "reasoning-gym/lcm",
            "parameters": {"max_value": 1000},
            "homogenize": ("answer_length",),
            "distinct": True,
        }
    )


def made(recipe: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        dataset = unskew.generate(unskew.Recipe(n=N, **recipe), Path(folder) / "made")
        rows = [row for batch in dataset.batches() for row in batch.examples()]
        return figures(rows) | {"cost": dataset.tally.cost}


def drawn(task: str, n: int, seed: int) -> list[dict[str, Any]]:
    source = load_domain("reasoning-gym").source(task)
    batch, _ = source.draw(generator(seed, source.name, "audit"), n)
    return list(batch.examples())


def questions(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["question"] for item in items]


def figures(items: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """How often the most frequent answers come, how many answers there are, what repeats."""
    rows = [(item["question"], item["answer"]) for item in items]
    answers = Counter(answer for _, answer in rows)
    lengths = Counter(len(answer) for _, answer in rows)
    top = answers.most_common(3)
    return {
        "rows": len(rows),
        "distinct_questions": len({question for question, _ in rows}),
        "distinct_answers": len(answers),
        "commonest": top[0][0],
        "commonest_share": top[0][1] / len(rows),
        "top_three_share": sum(count for _, count in top) / len(rows),
        "two_share": answers["2"] / len(rows),
        "answers_above_10": sum(c for a, c in answers.items() if int(a) > 10) / len(rows),
        "lengths": {str(k): v / len(rows) for k, v in sorted(lengths.items())},
    }


if __name__ == "__main__":
    main()
