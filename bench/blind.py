"""What a policy that never reads the question scores in each task of reasoning-gym.

python -m bench.blind -o results/blind.json

The policy always gives one answer: the one that scores best in the first half of the items. Its
score is measured on the second half, with the library's own scorer. Tasks are as the library has
them, with default settings.
"""

import json
import math
import multiprocessing as mp
import tempfile
import time
from collections import Counter
from contextlib import chdir
from importlib.metadata import version
from typing import Any

from bench.results import options, save
from unskew.core.interval import wilson
from unskew.domains.reasoning_gym.library import quiet, task_names

N, SEED = 2_000, 0
TRIED = 5  # answers, the most frequent ones first
CHOOSING = 500  # items on which the best of them is chosen
SECONDS = 60.0  # for making the items of a task; a slow task has fewer
LONGEST = 300  # seconds after which a task is given up


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", action="append", help="a task; repeatable")
    chosen = parser.parse_args()
    tasks = [_limited(task) for task in chosen.only or task_names()]
    for facts in sorted(tasks, key=lambda facts: -(facts.get("blind") or 0)):
        print(json.dumps(facts))
    settings = {"n": N, "seed": SEED, "tried": TRIED, "choosing": CHOOSING, "seconds": SECONDS}
    facts = {"settings": settings | {"reasoning_gym": version("reasoning-gym")}, "tasks": tasks}
    save(chosen.output, {"bench": "blind", **facts})


def _limited(task: str) -> dict[str, Any]:
    """Measure a task in a process of its own, which is ended if it takes too long."""
    receiver, sender = mp.Pipe(duplex=False)
    process = mp.Process(target=_send, args=(task, sender), daemon=True)
    process.start()
    facts = receiver.recv() if receiver.poll(LONGEST) else {"task": task, "left_out": "too slow"}
    process.kill()
    process.join()
    print(f"{task}: {facts.get('blind', facts.get('left_out'))}", flush=True)
    return facts


def _send(task: str, sender: Any) -> None:
    try:
        with tempfile.TemporaryDirectory() as folder, chdir(folder), quiet():  # some write files
            sender.send(measured(task))
    except Exception as error:
        sender.send({"task": task, "left_out": f"{type(error).__name__}: {error}"[:200]})


def measured(task: str) -> dict[str, Any]:
    """Return the blind score of a task, how often its answers come, and what repeats."""
    from reasoning_gym import create_dataset

    dataset = create_dataset(task, size=N, seed=SEED)
    items, begin = [], time.perf_counter()
    for number in range(N):
        items.append(dataset[number])
        if time.perf_counter() - begin > SECONDS and number >= 2:
            break
    questions = {item["question"] for item in items}
    facts = {"task": task, "items": len(items), "distinct_questions": len(questions)}
    half = len(items) // 2
    counts = Counter(str(item["answer"]) for item in items[:half] if item["answer"] is not None)
    if not counts:
        return facts | {"left_out": "items have no answer"}
    tried = [answer for answer, _ in counts.most_common(TRIED)]
    best = max(tried, key=lambda answer: _score(dataset, answer, items[:half][:CHOOSING]))
    later = items[half:]
    score = _score(dataset, best, later)
    top = sum(str(item["answer"]) == best for item in later) / len(later)
    low, high = wilson(score, len(later))
    return facts | {
        "answers": len(counts),
        "answer": best[:80],
        "share": top,
        "blind": score,
        "low": low,
        "high": high,
    }


def _score(dataset: Any, answer: str, items: list[Any]) -> float:
    """Return the mean of the library's scores for one answer to all items."""
    scores = [float(dataset.score_answer(answer=answer, entry=item)) for item in items]
    mean = math.fsum(scores) / len(scores)
    return mean if math.isfinite(mean) else 0.0


if __name__ == "__main__":
    main()
