"""Plans: what each closeness to the targets costs, before anything is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unskew.balance.best.population import Population
from unskew.balance.best.price import PRICES, Conflict, conflicts, curve, total_variation
from unskew.balance.best.targets import Target
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

PRICE = "{draws}"  # stands in a command where the price goes
WORTH = 0.8  # of what can be gained: the price that is recommended reaches this
MOST_CELLS = 20_000  # combinations that a plan looks at; more would take over a second


@dataclass(frozen=True)
class Point:
    """What a number of draws for each kept example buys.

    ``apart`` is the total variation of each variable from its target. ``distance`` is the sum of
    their KL divergences, and ``bound`` the least that any rule reaches at this cost.
    """

    draws: float
    apart: Mapping[str, float]
    distance: float
    bound: float

    @property
    def farthest(self) -> tuple[str, float]:
        """The variable that stays farthest from its target, and its total variation."""
        name = max(self.apart, key=lambda name: self.apart[name])
        return name, self.apart[name]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "draws": self.draws,
            "total_variation": dict(self.apart),
            "distance": self.distance,
            "bound": self.bound,
        }


@dataclass(frozen=True, repr=False)
class Plan:
    """The curve of cost against distance, from a sample. ``print`` draws it as a table."""

    label: str
    names: tuple[str, ...]
    points: tuple[Point, ...]
    examples: int  # of the sample
    conflicts: tuple[tuple[str, str, float], ...] = ()  # pairs, with the nats that must remain
    command: str = ""  # a command or a call, with {draws} where the price goes
    are_rows: bool = False  # of data, so that a price is the rows for each kept one

    def at(self, draws: float) -> Point:
        """Return the last point that costs no more than ``draws``."""
        affordable = [point for point in self.points if point.draws <= draws * (1 + 1e-9)]
        if not affordable:
            raise UnskewError(f"draws are {draws:g}; a kept example costs at least 1")
        return affordable[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "label": self.label,
            "examples": self.examples,
            "points": [point.to_dict() for point in self.points],
            "conflicts": [list(pair) for pair in self.conflicts],
            "command": self.command,
            "are_rows": self.are_rows,
        }

    @property
    def summary(self) -> str:
        """One line: some costs, each with the distance of the farthest variable."""
        return "; ".join(f"{p.draws:.3g}: {p.farthest[1]:.2f}" for p in self._chosen())

    @property
    def price(self) -> str:
        """What a price is, in words."""
        return "rows per kept row" if self.are_rows else "draws per kept example"

    @property
    def recommended(self) -> float:
        """The lowest price that gains most of what can be gained."""
        means = [sum(point.apart.values()) for point in self.points]
        enough = means[0] - WORTH * (means[0] - min(means)) + 1e-9
        return next(
            point.draws for point, mean in zip(self.points, means, strict=True) if mean <= enough
        )

    @property
    def lines(self) -> list[str]:
        """What some prices buy, in one line, and the command or call for a price."""
        unit = "one row in {:.3g}" if self.are_rows else "{:.3g} draws"
        points = self._chosen()
        now = "; ".join(f"{unit.format(p.draws)}: {p.farthest[1]:.2f}" for p in points[1:])
        return [
            f"to balance {', '.join(self.names)} (largest TV now {points[0].farthest[1]:.2f}): "
            f"{now or 'no price buys anything'}",
            self.command.replace(PRICE, f"{self.recommended:.3g}"),
        ]

    def _chosen(self) -> list[Point]:
        """Return the points of a few prices, and the last one if it is closer than those."""
        chosen = [self.at(draws) for draws in (1, 2, 5, 10, 20, 50) if draws <= self._most]
        last = self.points[-1]
        if last not in chosen and last.farthest[1] < chosen[-1].farthest[1] - 0.005:
            chosen.append(last)
        return list({point.draws: point for point in chosen}.values())

    @property
    def _most(self) -> float:
        return self.points[-1].draws

    def __repr__(self) -> str:
        """Return one line; ``print`` draws the table."""
        return f"<Plan for {self.label}, by {', '.join(self.names)}: {self.summary}>"

    def __str__(self) -> str:
        """Return the table as text."""
        from unskew.audits.report.terminal import as_text

        return as_text(self)

    def __rich__(self) -> RenderableType:
        """Return the table for a terminal."""
        from unskew.audits.report.terminal import plan_table

        return plan_table(self)

    def picture(self, path: str | Path) -> Path:
        """Write the curve as a picture: .png or .svg."""
        from unskew.audits.report import write_chart
        from unskew.audits.report.charts import plan_chart

        return write_chart(plan_chart(self), path)


def plan_of(
    population: Population,
    label: str,
    targets: Mapping[str, Target] | None = None,
    prices: Sequence[float] = PRICES,
    command: str = "",
) -> Plan:
    """Return the curve for the variables of a sample."""
    names, cells = population.names, population.cells
    wanted = population.targets(targets or {})
    if len(cells.shares) > MOST_CELLS:
        cells = cells.thinned(MOST_CELLS)
    points = []
    for fit in curve(cells, wanted, prices):
        apart = map(total_variation, fit.margins, wanted)
        points.append(
            Point(fit.draws, dict(zip(names, apart, strict=True)), fit.distance, fit.bound)
        )
    fights: list[Conflict] = []
    if len(names) > 1 and points[-1].farthest[1] > 0.05:
        fights = conflicts(cells, wanted)
    pairs = tuple((names[f.first], names[f.second], f.distance) for f in fights)
    return Plan(
        label, names, tuple(points), population.examples, pairs, command, population.are_rows
    )
