"""The card of a dataset: a README.md that says how it was made and how skewed it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from unskew.audits.binning import numbers_hardly_repeat
from unskew.audits.records import VariableAudit, in_order
from unskew.audits.report import words
from unskew.audits.report.pooling import sparks
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally, by_kind, noted
from unskew.datasets.parts.part import Part, card_variables
from unskew.datasets.parts.splits import not_wanted

SPARK_BARS = 16
COLUMNS = ("values", "KL", "TV", words.MOST_FREQUENT, words.NEVER_SEEN)
HARDLY = "hardly any value repeats; unskew.bins(…) sorts numbers into bins"
SIZES = {
    10**3: "n<1K",
    10**4: "1K<n<10K",
    10**5: "10K<n<100K",
    10**6: "100K<n<1M",
    10**7: "1M<n<10M",
    10**8: "10M<n<100M",
    10**9: "100M<n<1B",
    10**12: "1B<n<1T",
}  # the names that Hugging Face has for numbers of rows below these


def card(recipe: Recipe, parts: Sequence[Part], tally: Tally) -> str:
    """Return the text of the card, with the header that Hugging Face reads."""
    from unskew.audits.report.templates import render

    rows = sum(part.rows for part in parts)
    invalid = by_kind(tally.dropped)
    valid = {reason: invalid.pop(reason) for reason in not_wanted(recipe) & set(invalid)}
    return render(
        "datasets/card.md",
        recipe=recipe,
        name=json.dumps(f"{recipe.source} ({recipe.hash})"),
        rows=f"{rows:,}",
        size=next((name for limit, name in SIZES.items() if rows < limit), "n>1T"),
        homogenized=_homogenized(recipe, tally),
        invalid=_counts(invalid),
        details=words.dropped_details(tally.dropped),
        valid=_counts(valid),
        **_variables(recipe, parts),
    )


def _homogenized(recipe: Recipe, tally: Tally) -> str:
    """Say what homogenizing threw away; empty if nothing is homogenized."""
    if not recipe.homogenize:
        return ""
    return (
        f"Homogenized by {recipe.balanced} {recipe.price}: "
        f"{tally.drawn:,} draws for {tally.kept:,} kept, {tally.cost:.2f} each."
    )


def _counts(dropped: Mapping[str, int]) -> list[tuple[str, str]]:
    return [(f"{count:,}", reason) for reason, count in sorted(dropped.items())]


def _variables(recipe: Recipe, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the rows of the table of variables, and why others were not measured."""
    rows, left_out = [], {}
    for variable in _histograms(recipe, parts):
        if variable.declared or not numbers_hardly_repeat(variable.counts):
            rows.append(_row(variable))
        else:
            left_out[variable.name] = HARDLY
    for part in parts:
        left_out |= part.left_out
    return {"variables": rows, "left_out": left_out}


def _row(variable: VariableAudit) -> list[str]:
    row = words.row(variable)
    cells = [row[name] for name in COLUMNS]
    return [f"`{variable.name}`", variable.doc, *cells, *sparks([variable], SPARK_BARS)]


def _histograms(recipe: Recipe, parts: Sequence[Part]) -> list[VariableAudit]:
    """Return the histograms of the parts together; a variable that no example has is left out."""
    histograms = []
    for variable in card_variables(recipe):
        if not all(variable.name in part.values for part in parts):
            continue
        total: Counter[Hashable] = Counter()
        for part in parts:
            for value, count in part.values[variable.name]:
                total[noted(value)] += count
        if not total.total():
            continue
        # As notes have them: an infinity or a member of an Enum is a text there.
        support = [noted(value) for value in variable.support or in_order(total)]
        counts = {value: total[value] for value in support}
        declared = variable.support is not None
        histograms.append(VariableAudit(variable.name, counts, declared, variable.doc))
    return histograms
