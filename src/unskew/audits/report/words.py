"""The words and numbers of a report: the same in a terminal, in a picture and on a page."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from unskew.audits.records import Report, VariableAudit, kl_removed
from unskew.core.tally import Reason, by_kind

if TYPE_CHECKING:
    from unskew.audits.audit import Audit
    from unskew.core.recipe import Recipe

T = TypeVar("T")
Pairs: TypeAlias = Mapping[str, Sequence[VariableAudit]]  # each variable before and after

NEVER_SEEN = "never seen"  # heads the column of values that no example has
MOST_FREQUENT = "most frequent"
AUDIT_COLUMNS = (
    *("variable", "values", "KL", "TV", "entropy"),
    *(MOST_FREQUENT, NEVER_SEEN, "histogram"),
)
COMPARISON_COLUMNS = ("variable", "KL", "removed", "TV", "before", "after")
NUMBERS = {"values", "KL", "TV", "entropy", "removed"}  # columns set to the right
NAMED_MISSING = 3
NAMED_RUNS = 6
FEW = 20  # examples; of fewer it is no wonder if no value repeats
NONE = "–"


def shown(value: Hashable, longest: int = 24) -> str:
    """Write a value visibly, on one line of at most ``longest`` characters."""
    if isinstance(value, float):
        short = f"{value:g}"
        text = short if float(short) == value else repr(value)
    else:
        text = str(value)
    if not text.isprintable() or not text.strip():
        text = repr(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: float) -> str:
    """Write a distance with three decimals; only a true zero is "0"."""
    if value == 0:
        return "0"
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def percent(share: float) -> str:
    """Write a share of one as a percentage; "100 %" and "0 %" are exact."""
    if 0 < share < 0.0001:
        return "<0.01 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.3g} %"


def some(count: int, what: str) -> str:
    """Write how many there are of something."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def arrow(before: float, after: float) -> str:
    """Write how a distance changed."""
    return f"{number(before)} → {number(after)}"


def values(variable: VariableAudit) -> str:
    """Write how many values occur, and of how many if X is declared or consists of bins."""
    seen = variable.seen
    if variable.edges:
        is_missing = bool(variable.counts.get(None))
        bins = f"{seen - is_missing:,} of {len(variable.edges) + 1:,} bins"
        return f"{bins}, None" if is_missing else bins
    return f"{seen:,} of {len(variable.counts):,}" if variable.declared else f"{seen:,}"


def most_frequent(variable: VariableAudit, most: int = 3) -> str:
    """List the most frequent values with their shares."""
    top = variable.most_frequent[:most]
    return ", ".join(f"{shown(value)} {percent(share)}" for value, share in top)


def missing(variable: VariableAudit) -> str:
    """List the values never seen; a dash if X is not declared and no value is clearly missing."""
    gone = variable.missing
    if not gone:
        return "none" if variable.declared else NONE
    named = ", ".join(shown(value, 12) for value in gone[:NAMED_MISSING])
    rest = len(gone) - NAMED_MISSING
    return f"{named} +{rest:,}" if rest > 0 else named


def never_there(report: Report) -> str:
    """Name the values of declared X that no example has; empty if there are none."""
    variables = [sides[0] for sides in report.variables.values()]
    gone = {v.name: _runs(v.missing) for v in variables if v.declared and v.missing}
    return "; ".join(f"{shown(name)} {values}" for name, values in gone.items())


def _runs(values: Sequence[Hashable]) -> str:
    """List values, whole numbers that follow each other as from–to."""
    runs: list[list[Hashable]] = []
    for value in values:
        last = runs[-1][-1] if runs else None
        if type(value) is int and type(last) is int and value == last + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    texts = [
        shown(run[0], 12) if len(run) == 1 else f"{shown(run[0], 12)}–{shown(run[-1], 12)}"
        for run in runs
    ]
    rest = len(texts) - NAMED_RUNS
    return ", ".join(texts[:NAMED_RUNS]) + (f" and {rest} more" if rest > 0 else "")


def removed(before: VariableAudit, after: VariableAudit) -> str:
    """Write the percentage of KL removed; a dash if KL was 0 before, or rose."""
    percentage = kl_removed(before, after)
    if percentage is None or percentage < 0:  # it rose, as the numbers beside it show
        return NONE
    return ">99.9 %" if 99.95 <= percentage < 100 else f"{percentage:.1f} %"


def titled(side: str) -> str:
    """Write the name of a side with a colon; a single side has no name."""
    return f"{side}: " if side else ""


def facts(side: Audit) -> str:
    """Say how many examples there are, how many repeat, and how many the source dropped."""
    repeated = percent(side.duplicates / side.n)
    text = f"{some(side.n, 'example')}, {some(side.duplicates, 'duplicate')} ({repeated})"
    kinds = by_kind(side.dropped)
    reasons = ", ".join(f"{count:,} ({shown(kind, 60)})" for kind, count in kinds.items())
    return f"{text}, dropped: {reasons}" if reasons else text


def dropped_details(dropped: Mapping[str, int]) -> list[str]:
    """Say which examples were dropped, in a line for each reason and variable."""
    lines: dict[tuple[str, str], list[str]] = {}
    for text, count in dropped.items():
        reason = Reason.read(text)
        if reason.variable:
            of_kind = dropped.get(reason.kind)  # a user's own source may not count the kind
            share = f" ({percent(count / of_kind)})" if of_kind else ""
            line = lines.setdefault((reason.kind, reason.variable), [])
            line.append(f"{shown(reason.value, 30)}{share}")
    return [
        f"{shown(kind, 60)}, by {shown(variable, 30)}: {', '.join(sorted(values, key=natural))}"
        for (kind, variable), values in sorted(lines.items())
    ]


def natural(text: str) -> tuple[float, str]:
    """Return a key that sorts texts by the number at their beginning; other texts come last."""
    digits = re.match(r"\d+", text)
    return (int(digits[0]) if digits else math.inf, text)


def columns(report: Report) -> Sequence[str]:
    """Return the columns of the summary table; the last ones are histograms, one for each side."""
    return AUDIT_COLUMNS if len(report.sides) == 1 else COMPARISON_COLUMNS


def by_side(report: Report, histograms: Sequence[T]) -> dict[str, T]:
    """Return the histogram of each side by the name of its column."""
    return dict(zip(columns(report)[-len(histograms) :], histograms, strict=True))


def row(
    before: VariableAudit, after: VariableAudit | None = None, *, most: int = 3
) -> dict[str, str]:
    """Return the texts of one variable in the summary table by column, without histograms."""
    name = {"variable": shown(before.name, 60)}
    if after is None:
        return name | {
            "values": values(before),
            "KL": number(before.kl),
            "TV": number(before.total_variation),
            "entropy": number(before.entropy),
            MOST_FREQUENT: most_frequent(before, most),
            NEVER_SEEN: missing(before),
        }
    return name | {
        "KL": arrow(before.kl, after.kl),
        "removed": removed(before, after),
        "TV": arrow(before.total_variation, after.total_variation),
    }


def measured(before: VariableAudit, after: VariableAudit | None = None) -> str:
    """Say how a variable was measured, of each side if the two differ; empty if nobody knows."""
    if after is None or before.doc == after.doc:
        return shown(before.doc, 200) if before.doc else ""
    docs = [shown(side.doc, 100) if side.doc else NONE for side in (before, after)]
    return f"{docs[0]} before, {docs[1]} after"


def how_measured(report: Report) -> str:
    """Say how each variable was measured, those that were measured alike together."""
    alike: dict[str, list[str]] = {}
    for name, sides in report.variables.items():
        alike.setdefault(measured(*sides), []).append(shown(name, 60))
    texts = [f"{', '.join(names)} ({how})" for how, names in alike.items() if how]
    return f"measured: {'; '.join(texts)}" if texts else ""


def changes(variables: Pairs) -> Iterator[str]:
    """Say in plain sentences which variables came closer to uniform, and which did not.

    A variable came closer if neither KL nor TV grew and at least one of them fell, as printed.
    """
    moves = {name: _moves(*sides) for name, sides in variables.items()}
    closer = [name for name, (kl, tv) in moves.items() if kl <= 0 and tv <= 0 and kl + tv < 0]
    further = [name for name, (kl, tv) in moves.items() if kl >= 0 and tv >= 0 and kl + tv > 0]
    yield f"{len(closer)} of {some(len(moves), 'variable')} came closer to uniform."
    if closer:
        best = max(closer, key=lambda name: variables[name][0].kl - variables[name][1].kl)
        before, after = variables[best]
        yield (
            f"{shown(best, 60)} improved{' most' if len(closer) > 1 else ''}: its KL divergence "
            f"went from {number(before.kl)} to {number(after.kl)} nats "
            f"({removed(before, after)} removed), its total variation from "
            f"{number(before.total_variation)} to {number(after.total_variation)}."
        )
    if further:
        yield f"Further from uniform than before: {', '.join(shown(name, 60) for name in further)}."
    if mixed := split(variables):
        yield mixed


def split(variables: Pairs) -> str:
    """Name the variables that came closer by one measure and went further by the other."""
    mixed = [
        f"{shown(name, 60)} (KL {arrow(before.kl, after.kl)}, "
        f"TV {arrow(before.total_variation, after.total_variation)})"
        for name, (before, after) in variables.items()
        if sum(_moves(before, after)) == 0 and any(_moves(before, after))
    ]
    return f"Closer by one measure, further by the other: {', '.join(mixed)}." if mixed else ""


def _moves(before: VariableAudit, after: VariableAudit) -> tuple[int, int]:
    """Return for KL and for TV whether it grew (1), fell (-1) or is printed the same (0)."""

    def move(old: float, new: float) -> int:
        return 0 if number(old) == number(new) else 1 if new > old else -1

    return move(before.kl, after.kl), move(before.total_variation, after.total_variation)


def left(recipe: Recipe | None, variables: Pairs) -> str:
    """Say how the second side was homogenized, if it was, and what KL is left."""
    rest = ", ".join(f"{shown(name, 60)} {number(v.kl)}" for name, (_, v) in variables.items())
    kl_left = f"KL that is left, in nats: {rest}."
    if recipe is None or not recipe.homogenize:
        return kl_left
    by = shown(recipe.balanced, 200)
    exact = recipe.has_goal or not recipe.epsilon
    more = "" if exact else ", which does not make it uniform"
    return f"After: homogenized by {by} {recipe.price}{more}. {kl_left}"


def supports(variables: Pairs) -> str:
    """Say over which values the distances are if the sides have different ones; often nothing."""
    sizes = []
    for name, (before, after) in variables.items():
        seen = [before.seen, after.seen]
        if not before.declared and set(seen) != {before.size}:
            values = some(before.size, "value")
            sizes.append(f"{shown(name, 60)} {values} ({seen[0]:,} before, {seen[1]:,} after)")
    if not sizes:
        return ""
    return f"KL and TV are over the values that either side has: {', '.join(sizes)}."


def notes(report: Report) -> list[str]:
    """Return notes about bins, dropped examples, and variables that are not shown."""
    if len(report.sides) == 2:
        lines = [supports(report.variables), in_bins(report), _too_fine(report)]
        lines.append(_not_compared(report))
    else:
        [side] = report.sides.values()
        lines = [*dropped_details(side.dropped), in_bins(report), _too_fine(report)]
        lines += _not_measured(side)
    return [line for line in lines if line]


def plan(report: Report) -> list[str]:
    """Return what balancing costs, in a line, and the command; nothing for two sides."""
    [side, *others] = report.sides.values()
    return side.plan.lines if side.plan is not None and not others else []


def in_bins(report: Report) -> str:
    """Name the variables for which the audit chose bins, and say how to choose others."""
    binned = [sides[0] for sides in report.variables.values() if sides[0].edges]
    if not binned:
        return ""
    names = ", ".join(f"{shown(v.name, 60)} (in {len(v.edges) + 1} bins)" for v in binned)
    return (
        f"hardly any value repeats: {names}; other bins have a name, such as "
        f"{shown(f'bins({binned[0].name}, 1, 10)', 60)}"
    )


def _too_fine(report: Report) -> str:
    """Name the variables whose values hardly repeat and are in no bins; often nothing."""
    names = [
        shown(name, 60)
        for name, sides in report.variables.items()
        if any(v.hardly_repeats and not v.declared and v.n >= FEW for v in sides)
    ]
    if not names:
        return ""
    return (
        f"hardly any value repeats: {', '.join(names)}; so KL and TV tell little here. Take more "
        "examples, or measure something that repeats: words(a_text), or bins of numbers: "
        "bins(a_number, 1, 10)"
    )


def _not_measured(side: Audit) -> Iterator[str]:
    """Say which columns were left out, in a line for each reason."""
    for reason in dict.fromkeys(side.left_out.values()):
        names = [shown(name) for name, why in side.left_out.items() if why == reason]
        yield f"not measured: {', '.join(names)} ({reason})"


def _not_compared(report: Report) -> str:
    """Name the variables that are not compared, and say why; often nothing."""
    reasons = {
        "only one side has it": report.on_one_side,
        "their bins differ; audit one side with like= the other": report.other_bins,
    }
    return " ".join(
        f"Not compared, as {why}: {', '.join(shown(name, 60) for name in which)}."
        for why, which in reasons.items()
        if which
    )
