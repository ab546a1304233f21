"""The card of a dataset: a README.md that says how it was made and how skewed it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from unskew.auditing import VariableAudit, in_order
from unskew.binning import hardly_repeats
from unskew.keys import not_wanted
from unskew.parts import Part, card_variables
from unskew.recipe import Recipe
from unskew.tally import DETAIL, Tally, noted

HARDLY = "hardly any value repeats; unskew.bins(…) sorts numbers into bins"


def card(recipe: Recipe, parts: Sequence[Part], tally: Tally) -> str:
    """Return the text of the card, with the header that Hugging Face reads."""
    rows = sum(part.rows for part in parts)
    return "\n".join(
        [
            *_header(recipe, rows),
            f"# {recipe.source}",
            "",
            f"{rows:,} synthetic examples, made by `unskew` from the recipe below: the same recipe "
            "gives the same files.",
            "",
            "```json",
            recipe.to_json().rstrip("\n"),
            "```",
            "",
            *_made(recipe, tally),
            *_variables(recipe, parts),
            "",
        ]
    )


def _header(recipe: Recipe, rows: int) -> list[str]:
    size = next(
        (name for most, name in SIZES if rows < most),
        "n>1T",
    )
    return [
        "---",
        f"pretty_name: {json.dumps(f'{recipe.source} ({recipe.hash})')}",
        "tags:",
        "- synthetic",
        "- unskew",
        "size_categories:",
        f"- {size}",
        "configs:",
        "- config_name: default",
        "  data_files:",
        *(
            line
            for split in recipe.rows_of_splits
            for line in (f"  - split: {split}", f"    path: data/{split}-*")
        ),
        "---",
        "",
    ]


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


def _made(recipe: Recipe, tally: Tally) -> list[str]:
    """Say what drawing and homogenizing threw away."""
    from unskew.report import words

    lines = []
    if recipe.homogenize:
        lines.append(
            f"Homogenized by {' × '.join(recipe.homogenize)} at ε = {recipe.epsilon:g}: "
            f"{tally.drawn:,} draws for {tally.kept:,} kept, {tally.cost:.2f} each."
        )
    main = {why: count for why, count in tally.dropped.items() if DETAIL not in why}
    valid = {why: main.pop(why) for why in not_wanted(recipe) & set(main)}
    if main:
        lines += ["", "Dropped by the source because it was not valid:", "", *_counts(main)]
        lines += [f"  - {_plain(line)}" for line in words.dropped_details(tally.dropped)]
    if valid:
        lines += ["", "Valid, but left out:", "", *_counts(valid)]
    return [*lines, ""] if lines else ["Nothing was dropped.", ""]


def _counts(dropped: Mapping[str, int]) -> list[str]:
    return [f"- {count:,}: {_plain(why)}" for why, count in sorted(dropped.items())]


def _variables(recipe: Recipe, parts: Sequence[Part]) -> list[str]:
    from unskew.report import words
    from unskew.report.pooling import sparks

    known = [variable for variable in audits(recipe, parts) if variable.n]
    found = [v for v in known if v.declared or not hardly_repeats(v.counts)]
    left_out = {v.name: HARDLY for v in known if v not in found}
    for part in parts:
        left_out |= part.left_out
    reasons = [f"Not measured: `{_plain(name)}` ({_plain(why)})." for name, why in left_out.items()]
    if not found:
        return reasons
    homogenized = recipe.homogenize and recipe.epsilon
    more = " Homogenizing with ε above 0 does not make them 0." if homogenized else ""
    lines = [
        "## How skewed it is",
        "",
        "KL and TV are the distances from uniform over the variable's values, in nats and from "
        f"0 to 1.{more}",
        "",
        "| variable | what | values | KL | TV | commonest | missing | histogram |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for variable in found:
        row = words.audit_row(variable)
        cells = [row[name] for name in ("values", "KL", "TV", "commonest", "missing")]
        cells = [f"`{variable.name}`", variable.doc, *cells, sparks([variable], 16)[0]]
        lines.append(f"| {' | '.join(_plain(cell) for cell in cells)} |")
    return [*lines, *(["", *reasons] if reasons else [])]


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


def _plain(text: str) -> str:
    """Keep a text from ending its cell or its line."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
