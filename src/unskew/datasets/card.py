"""The card of a dataset: a README.md that says how it was made and how skewed it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from unskew.audits.audit import VariableAudit, in_order
from unskew.audits.binning import numbers_hardly_repeat
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally, by_kind, noted
from unskew.datasets.part import Part, card_variables
from unskew.datasets.splits import not_wanted

SPARK_BARS = 16
COLUMNS = ("values", "KL", "TV", "commonest", "never seen")
HARDLY = "hardly any value repeats; unskew.bins(…) sorts numbers into bins"
SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
    (10**9, "100M<n<1B"),
    (10**12, "1B<n<1T"),
)


def card(recipe: Recipe, parts: Sequence[Part], tally: Tally) -> str:
    """Return the text of the card, with the header that Hugging Face reads."""
    from unskew.audits.report import words
    from unskew.audits.report.templates import render

    rows = sum(part.rows for part in parts)
    invalid = by_kind(tally.dropped)
    valid = {why: invalid.pop(why) for why in not_wanted(recipe) & set(invalid)}
    return render(
        "datasets/card.md",
        recipe=recipe,
        name=json.dumps(f"{recipe.source} ({recipe.hash})"),
        rows=f"{rows:,}",
        size=next((name for most, name in SIZES if rows < most), "n>1T"),
        homogenized=_homogenized(recipe, tally),
        invalid=_counts(invalid),
        details=words.dropped_details(tally.dropped),
        valid=_counts(valid),
        **_variables(recipe, parts),
    )


def _homogenized(recipe: Recipe, tally: Tally) -> str:
    """Say what homogenizing threw away; empty where nothing is homogenized."""
    if not recipe.homogenize:
        return ""
    return (
        f"Homogenized by {' × '.join(recipe.homogenize)} at ε = {recipe.epsilon:g}: "
        f"{tally.drawn:,} draws for {tally.kept:,} kept, {tally.cost:.2f} each."
    )


def _counts(dropped: Mapping[str, int]) -> list[tuple[str, str]]:
    return [(f"{count:,}", why) for why, count in sorted(dropped.items())]


def _variables(recipe: Recipe, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the rows of the table of variables, and why others were not measured."""
    known = [variable for variable in audits(recipe, parts) if variable.n]
    measured = [v for v in known if v.declared or not numbers_hardly_repeat(v.counts)]
    left_out = {v.name: HARDLY for v in known if v not in measured}
    for part in parts:
        left_out |= part.left_out
    return {"variables": [_row(variable) for variable in measured], "left_out": left_out}


def _row(variable: VariableAudit) -> list[str]:
    from unskew.audits.report import words
    from unskew.audits.report.pooling import sparks

    row = words.audit_row(variable)
    cells = [row[name] for name in COLUMNS]
    return [f"`{variable.name}`", variable.doc, *cells, *sparks([variable], SPARK_BARS)]


def audits(recipe: Recipe, parts: Sequence[Part]) -> list[VariableAudit]:
    """Add up the histograms of the parts."""
    found = []
    for variable in card_variables(recipe):
        if not all(variable.name in part.values for part in parts):
            continue
        total: Counter[Hashable] = Counter()
        for part in parts:
            for value, count in part.values[variable.name]:
                total[noted(value)] += count
        # As notes have them, where an infinity or a member of an Enum is a text.
        support = [noted(value) for value in variable.support or in_order(total)]
        counts = {value: total[value] for value in support}
        declared = variable.support is not None
        found.append(VariableAudit(variable.name, counts, declared, variable.doc))
    return found
