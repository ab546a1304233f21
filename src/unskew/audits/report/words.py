"""The words and numbers of a report: the same in a terminal, in a picture and on a page."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from unskew.audits.audit import Audit, Comparison, VariableAudit, kl_removed
from unskew.core.tally import Reason, by_kind

NEVER_SEEN = "never seen"  # heads the column of values that no example has
AUDIT_COLUMNS = ("variable", "values", "KL", "TV", "entropy", "commonest", NEVER_SEEN, "histogram")
COMPARISON_COLUMNS = ("variable", "KL", "removed", "TV", "before", "after")
NUMBERS = {"values", "KL", "TV", "entropy", "removed"}  # columns set to the right
NAMED_MISSING = 3
NAMED_RUNS = 6
NONE = "–"


def shown(value: Hashable, longest: int = 24) -> str:
    """Write a value so that it is visible, on one line and at most ``longest`` characters."""
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
    """Write a share of one; "100 %" and "0 %" only where they are exact."""
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
    """Count the values or bins seen, of how many where X is declared or bins were chosen."""
    seen = sum(count > 0 for count in variable.counts.values())
    if variable.edges:
        return f"{seen:,} of {len(variable.edges) + 1:,} bins"
    return f"{seen:,} of {len(variable.counts):,}" if variable.declared else f"{seen:,}"


def commonest(variable: VariableAudit, most: int = 3) -> str:
    """List the commonest values with their shares."""
    top = variable.commonest[:most]
    return ", ".join(f"{shown(value)} {percent(share)}" for value, share in top)


def missing(variable: VariableAudit) -> str:
    """List the values never seen; a dash where X is not declared and none stands out."""
    gone = variable.missing
    if not gone:
        return "none" if variable.declared else NONE
    named = ", ".join(shown(value, 12) for value in gone[:NAMED_MISSING])
    rest = len(gone) - NAMED_MISSING
    return f"{named} +{rest:,}" if rest > 0 else named


def never_there(audit: Audit) -> str:
    """Name the values of declared X that no example has; empty where there is none."""
    gone = {v.name: _runs(v.missing) for v in audit.variables.values() if v.declared and v.missing}
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
    """Write the percentage of KL removed; a dash where there was none to remove."""
    percentage = kl_removed(before, after)
    if percentage is None:
        return NONE
    return ">99.9 %" if 99.95 <= percentage < 100 else f"{percentage:.1f} %"


def facts(audit: Audit) -> str:
    """Say how many examples there are, how many repeat, and what was dropped on the way."""
    repeated = percent(audit.duplicates / audit.n)
    text = f"{some(audit.n, 'example')}, {some(audit.duplicates, 'duplicate')} ({repeated})"
    kinds = by_kind(audit.dropped)
    reasons = ", ".join(f"{count:,} ({shown(kind, 60)})" for kind, count in kinds.items())
    return f"{text}, dropped: {reasons}" if reasons else text


def dropped_details(dropped: Mapping[str, int]) -> list[str]:
    """Say what kind of examples were dropped, a line for each reason and variable."""
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
    """Sort what begins with a number by that number, and before anything else."""
    begins = re.match(r"\d+", text)
    return (int(begins[0]) if begins else math.inf, text)


def audit_row(variable: VariableAudit, most: int = 3) -> dict[str, str]:
    """Return what a summary table says of one variable, by column."""
    return {
        "variable": shown(variable.name, 60),
        "values": values(variable),
        "KL": number(variable.kl),
        "TV": number(variable.total_variation),
        "entropy": number(variable.entropy),
        "commonest": commonest(variable, most),
        NEVER_SEEN: missing(variable),
    }


def comparison_row(comparison: Comparison, name: str) -> dict[str, str]:
    """Return what a summary table says of one variable before and after, by column."""
    before, after = comparison.variables[name]
    return {
        "variable": shown(name, 60),
        "KL": arrow(before.kl, after.kl),
        "removed": removed(before, after),
        "TV": arrow(before.total_variation, after.total_variation),
    }


def changes(comparison: Comparison) -> Iterator[str]:
    """Say in plain sentences which variables came closer to uniform, and which did not.

    A variable came closer if neither KL nor TV grew and at least one of them fell, as printed.
    """
    moves = {name: _moves(*sides) for name, sides in comparison.variables.items()}
    closer = [name for name, (kl, tv) in moves.items() if kl <= 0 and tv <= 0 and kl + tv < 0]
    further = [name for name, (kl, tv) in moves.items() if kl >= 0 and tv >= 0 and kl + tv > 0]
    yield f"{len(closer)} of {some(len(moves), 'variable')} came closer to uniform."
    if closer:
        pairs = comparison.variables
        best = max(closer, key=lambda name: pairs[name][0].kl - pairs[name][1].kl)
        before, after = pairs[best]
        yield (
            f"{shown(best, 60)} improved{' most' if len(closer) > 1 else ''}: its KL divergence "
            f"went from {number(before.kl)} to {number(after.kl)} nats "
            f"({removed(before, after)} removed), its total variation from "
            f"{number(before.total_variation)} to {number(after.total_variation)}."
        )
    if further:
        yield f"Further from uniform than before: {', '.join(shown(name, 60) for name in further)}."
    if told := split(comparison):
        yield told


def split(comparison: Comparison) -> str:
    """Name the variables that came closer by one measure and went further by the other."""
    told = [
        f"{shown(name, 60)} (KL {arrow(before.kl, after.kl)}, "
        f"TV {arrow(before.total_variation, after.total_variation)})"
        for name, (before, after) in comparison.variables.items()
        if sum(_moves(before, after)) == 0 and any(_moves(before, after))
    ]
    return f"Closer by one measure, further by the other: {', '.join(told)}." if told else ""


def _moves(before: VariableAudit, after: VariableAudit) -> tuple[int, int]:
    """Return for KL and for TV whether it grew (1), fell (-1) or is printed the same (0)."""

    def move(old: float, new: float) -> int:
        return 0 if number(old) == number(new) else 1 if new > old else -1

    return move(before.kl, after.kl), move(before.total_variation, after.total_variation)


def left(comparison: Comparison) -> str:
    """Say how the second side was homogenized, if its recipe says so, and what KL is left."""
    recipe = comparison.after.recipe
    if recipe is None or not recipe.homogenize:
        return kl_left(comparison)
    by = " × ".join(shown(name, 60) for name in recipe.homogenize)
    more = ", which does not make it uniform" if recipe.epsilon else ""
    return f"After: homogenized by {by} at ε = {recipe.epsilon:g}{more}. {kl_left(comparison)}"


def supports(comparison: Comparison) -> str:
    """Say over which values the distances are, if one side alone has others; often nothing."""
    told = []
    for name, (over_both, _) in comparison.variables.items():
        before = len(comparison.before.variables[name].counts)
        after = len(comparison.after.variables[name].counts)
        if not before == after == len(over_both.counts):
            values = some(len(over_both.counts), "value")
            told.append(f"{shown(name, 60)} {values} ({before:,} before, {after:,} after)")
    if not told:
        return ""
    return f"KL and TV are over the values that either side has: {', '.join(told)}."


def kl_left(comparison: Comparison) -> str:
    """Say how far from uniform each variable is on the second side."""
    rest = ", ".join(
        f"{shown(name, 60)} {number(after.kl)}" for name, (_, after) in comparison.variables.items()
    )
    return f"KL that is left, in nats: {rest}."


def in_bins(result: Audit | Comparison) -> str:
    """Name the variables for which the audit chose bins, and say how to choose others."""
    if isinstance(result, Audit):
        found = list(result.variables.values())
    else:
        found = [before for before, _ in result.variables.values()]
    told = [f"{shown(v.name, 60)} (in {len(v.edges) + 1} bins)" for v in found if v.edges]
    if not told:
        return ""
    return f"hardly any value repeats: {', '.join(told)}; unskew.bins(…) makes other bins"


def not_measured(audit: Audit) -> Iterator[str]:
    """Say which columns were left out and why, a line for each reason."""
    for reason in dict.fromkeys(audit.left_out.values()):
        names = [shown(name) for name, why in audit.left_out.items() if why == reason]
        yield f"not measured: {', '.join(names)} ({reason})"


def one_sided(comparison: Comparison) -> str:
    """Name the variables that are not compared, and say why; often nothing."""
    names = sorted(set(comparison.before.variables) ^ set(comparison.after.variables))
    reasons = {
        "only one side has it": names,
        "their bins differ; audit one side with like= the other": comparison.other_bins,
    }
    return " ".join(
        f"Not compared, as {why}: {', '.join(shown(name, 60) for name in which)}."
        for why, which in reasons.items()
        if which
    )
