"""What an audit recommends: the plan for its most skewed variables, and a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unskew.audits.plan import PRICE, Plan, plan_of
from unskew.balance.best.cells import cells_of
from unskew.balance.best.population import Population
from unskew.balance.histogram import FEWEST, hardly_repeats

if TYPE_CHECKING:
    from collections.abc import Hashable

    from unskew.audits.records import VariableAudit

MOST = 5  # variables of a plan
LEAST = 0.05  # total variation from uniform from which on a variable is worth a plan
MOST_VALUES = 1_000  # of a variable of a plan
MOST_CELLS = 1 << 12  # combinations; the plan of an audit should take no time
PRICES = (1, 1.5, 2, 3, 5, 10, 20, 50)
ANY = "…"  # stands for functions of the user's own in a call


@dataclass(frozen=True)
class Joint:
    """The codes of some of the rows that were audited, and the values of the codes."""

    values: Mapping[str, Sequence[Hashable]]  # by variable
    codes: NDArray[np.int64]  # a column for each variable; below 0 where a value has no code


@dataclass(frozen=True)
class Audited:
    """What was audited, in the words of a user: what a command needs to name it."""

    shell: str = ""  # the beginning of a command, such as "unskew resample tasks.jsonl"
    python: str = ""  # the beginning of a call, such as "unskew.resample(data"
    names: bool = True  # whether the variables have names that a user can type
    is_data: bool = True  # rows that are there already, and no source

    def call(self, variables: Sequence[str]) -> str:
        """Return the command or the call that balances variables, with ``PRICE`` in it."""
        if self.shell and self.names:
            named = " ".join(f"--homogenize {shlex.quote(name)}" for name in variables)
            output = "balanced.parquet" if self.is_data else "balanced -n 10000"
            return f"{self.shell} {named} --budget {PRICE} -o {output}"
        by = f"[{', '.join(map(repr, variables))}]" if self.names else ANY
        return f"{self.python}, by={by}, budget={PRICE})"


def plan_for(
    label: str, variables: Mapping[str, VariableAudit], joint: Joint, audited: Audited
) -> Plan | None:
    """Return the plan for the most skewed variables; None if none of them can be balanced.

    There is none for fewer than 100 examples, whose shares may differ by chance.
    """
    names = [name for name in worth_balancing(variables) if name in joint.values]
    columns = list(joint.values)
    codes = joint.codes[:, [columns.index(name) for name in names]]
    codes = codes[(codes >= 0).all(axis=1)] if names else codes
    if not names or len(codes) < FEWEST:
        return None
    values = tuple(joint.values[name] for name in names)
    cells = cells_of(codes, tuple(map(len, values)))
    if len(cells.shares) > MOST_CELLS:
        cells = cells.thinned(MOST_CELLS)
    population = Population(tuple(names), values, cells, len(codes), are_rows=audited.is_data)
    return plan_of(population, label, prices=PRICES, command=audited.call(names))


def worth_balancing(variables: Mapping[str, VariableAudit]) -> list[str]:
    """Return the names of at most five variables that are skewed and can be balanced.

    They have from 2 to 1,000 values, all of them known by name, that repeat. Of those, the ones
    with the largest total variation from uniform are taken, in the order of the audit.
    """
    apart = {
        name: variable.total_variation
        for name, variable in variables.items()
        if variable.tail is None
        and variable.seen >= 2
        and variable.size <= MOST_VALUES
        and variable.total_variation >= LEAST
        and not hardly_repeats(variable.counts.values())
    }
    chosen = sorted(apart, key=lambda name: -apart[name])[:MOST]
    return [name for name in apart if name in chosen]
