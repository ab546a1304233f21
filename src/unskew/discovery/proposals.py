"""Proposes features of a sample: of each field by its kind, of pairs of fields, of a domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError, brief
from unskew.core.rng import generator
from unskew.discovery.derived import derived, unjudged
from unskew.discovery.fields import fields
from unskew.discovery.proposal import Kind, Proposal, Proposed, Proposer
from unskew.discovery.propose.arrays import arrays
from unskew.discovery.propose.chats import chats
from unskew.discovery.propose.lists import lists
from unskew.discovery.propose.make import Made
from unskew.discovery.propose.numbers import numbers
from unskew.discovery.propose.own import of_domain, of_functions
from unskew.discovery.propose.pairs import pairs
from unskew.discovery.propose.texts import texts
from unskew.discovery.propose.values import dates, dicts, labels, presence

MOST = 5000  # proposals
TWICE = "features that another proposal names already"

PROPOSERS: dict[Kind, tuple[Proposer, ...]] = {
    "flag": (presence, labels),
    "number": (presence, numbers),
    "label": (presence, labels),
    "text": (presence, texts),
    "list": (presence, lists),
    "messages": (presence, chats),
    "dict": (presence, dicts),
    "array": (presence, arrays),
    "date": (presence, labels, dates),
    "other": (presence,),
}


def propose(
    batch: Batch,
    *,
    seed: int = 0,
    domain: Domain | None = None,
    own: Sequence[Callable[[Any], Any]] = (),
    progress: Callable[[str], None] | None = None,
) -> Proposed:
    """Return all features of a sample that data may be skewed in.

    Args:
        batch: the sample.
        seed: decides how parts are shuffled.
        domain: a domain whose variables are proposed too.
        own: functions of a value. Each is proposed for the fields whose values it takes.
        progress: called with each path before its features are measured.
    """
    found, left_out = fields(batch)
    made = _Made(left_out)
    if domain is not None:
        made.add("domain", lambda: of_domain(domain, batch))
    for number, field in enumerate(found):
        if progress is not None:
            progress(field.path)
        for proposer in PROPOSERS[field.kind]:
            rng = generator(seed, "propose", number, proposer.__name__)
            made.add(proposer.__name__, lambda: proposer(field, rng))  # noqa: B023
    for field in {field.path: field for field in found}.values():
        if own:
            made.add("own", lambda: of_functions(own, field, batch))  # noqa: B023
    made.add("pairs", lambda: pairs(found, generator(seed, "propose pairs")))
    paths = derived(found)
    judged = [
        unjudged(proposal) if _follows(proposal.paths, paths) else proposal
        for proposal in made.proposals.values()
    ]
    return Proposed(judged, found, dict(made.left_out))


def _follows(measured: Sequence[str], derived_from: Mapping[str, str]) -> bool:
    """Return whether a feature is of a field that follows from another one."""
    return any(
        path == other or path.startswith((f"{other}.", f"{other}["))
        for path in measured
        for other in derived_from
    )


class _Made:
    """The proposals so far, by name, and how many were left out, by reason."""

    def __init__(self, left_out: Counter[str]) -> None:
        self.proposals: dict[str, Proposal] = {}
        self.left_out = left_out

    def add(self, what: str, proposer: Callable[[], Iterable[Made]]) -> None:
        """Take what a proposer yields. If it raises, this is counted, and what it gave stays."""
        try:
            for made in proposer():
                if isinstance(made, str):
                    self.left_out[made] += 1
                elif made.name in self.proposals:
                    self.left_out[TWICE] += 1
                elif len(self.proposals) >= MOST:
                    self.left_out[f"proposals beyond the first {MOST:,}"] += 1
                else:
                    self.proposals[made.name] = made
        except UnskewError as error:
            self.left_out[f"{what}: {brief(str(error), 200)}"] += 1
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            why = f"{type(error).__name__}: {brief(str(error), 120)}"
            self.left_out[f"features of {what} that raised {why}"] += 1
