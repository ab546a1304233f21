"""Runs `discover` on settings, two at a time, each in a process of its own with a time limit."""

from __future__ import annotations

import multiprocessing as mp
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import Any

from bench.discover.judge import ENOUGH, heard, listed, recalled
from bench.discover.settings import ANSWER, FAILED, Setting

TOP = 5
SIDE_BY_SIDE = 2
Discover = Callable[..., Any]


def judged(setting: Setting, n: int, seed: int, discover: Discover) -> dict[str, Any]:
    """Run `discover` on the rows of a setting; return what it found and what it missed."""
    made = setting.make(n, seed)
    columns = {
        "answer": ANSWER if setting.answer else None,
        "failures": FAILED if setting.failures else None,
    }
    begin = time.process_time()
    result = discover(made.rows, **columns, top=TOP)
    spent = time.process_time() - begin
    everything = [*result.findings, *(getattr(result, "failures", None) or ())]
    plants = []
    for facts, truth in zip(made.facts, made.truths, strict=True):
        findings = heard(listed(result, facts["role"], TOP), made.rows)
        share, name, kind = recalled(findings, truth)
        plants.append(
            facts
            | {"share": round(share, 3), "by": name, "by_kind": kind, "found": share >= ENOUGH}
        )
    return about(setting) | {
        "rows": len(made.rows),
        "seconds": round(spent, 2),
        "findings": [f"{getattr(f, 'kind', '')} {f.name}".strip()[:120] for f in everything],
        "plants": plants,
    }


def about(setting: Setting) -> dict[str, Any]:
    """Return what a setting is."""
    return {
        "setting": setting.name,
        "type": setting.kind_of_data,
        "variant": setting.variant,
        "answer": setting.answer,
        "failures": setting.failures,
    }


def lost(setting: Setting, why: str) -> dict[str, Any]:
    """Return what is known of a setting that could not be judged: every plant is missed."""
    plants = [
        {"kind": p.kind.name, "role": p.role, "strength": p.strength, "found": False}
        for p in setting.plants
    ]
    return about(setting) | {"error": why, "findings": [], "plants": plants}


def run(
    chosen: Iterable[Setting], n: int, seed: int, seconds: float, function: str
) -> Iterator[dict[str, Any]]:
    """Judge settings, two at a time; yield the facts of each in order.

    Args:
        chosen: the settings.
        n: how many rows each has.
        seed: the seed of the rows.
        seconds: after this time a setting is given up, and all that it has counts as missed.
        function: the module and the name of `discover`, with a colon between.
    """
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(["bench.discover.run", "bench.discover.natural.karel"])
    one = partial(_limited, context, n=n, seed=seed, seconds=seconds, function=function)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        yield from pool.map(one, chosen)


def _limited(
    context: Any, setting: Setting, *, n: int, seed: int, seconds: float, function: str
) -> dict[str, Any]:
    receiver, sender = context.Pipe(duplex=False)
    # A setting holds functions, which cannot be sent; its name can.
    names = (setting.split, setting.kind_of_data, setting.name)
    process = context.Process(target=_send, args=(sender, names, n, seed, function), daemon=True)
    process.start()
    sender.close()
    try:
        facts = receiver.recv() if receiver.poll(seconds) else f"more than {seconds:g} s"
    except EOFError:
        facts = "the process ended"
    process.kill()
    process.join()
    return lost(setting, facts) if isinstance(facts, str) else facts


def _send(sender: Any, names: tuple[str, str, str], n: int, seed: int, function: str) -> None:
    from bench.discover.settings import settings

    split, kind_of_data, name = names
    try:
        setting = next(s for s in settings(split, kind_of_data) if s.name == name)
        sender.send(judged(setting, n, seed, found(function)))
    except Exception as error:  # of discover: it counts as missed, and the reason is printed
        sender.send(f"{type(error).__name__}: {error}"[:300])


def found(function: str) -> Discover:
    """Return the function to judge."""
    module, _, name = function.partition(":")
    discover: Discover = getattr(import_module(module), name)
    return discover


def missed(facts: dict[str, Any]) -> str:
    """Return a line for what a setting missed, or found where nothing is; empty if it is right."""
    if facts.get("error"):
        return f"{facts['setting']}: {facts['error']}"
    plants = [p for p in facts["plants"] if not p["found"]]
    if not facts["plants"] and facts["findings"]:
        return f"{facts['setting']} ({facts['variant']}): " + "; ".join(facts["findings"])
    if not plants:
        return ""
    texts = [f"{p['kind']} as {p['role']}, {p['strength']}, at most {p['share']}" for p in plants]
    came = "; ".join(facts["findings"]) or "nothing"
    return f"{facts['setting']} ({facts['variant']}): missed {', '.join(texts)}; came: {came}"
