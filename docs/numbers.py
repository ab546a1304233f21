"""Writes the numbers of README and docs from results/*.json; `make docs-numbers` runs it.

A block stands between `<!-- numbers: NAME -->` and `<!-- end -->`. A test fails if a block is not
what this module would write.
"""

import re

from docs import (
    balance_numbers,
    calculator_numbers,
    gym_numbers,
    karel_numbers,
    speed_numbers,
    synthesizer_numbers,
)
from docs.markdown import ROOT

WRITERS = (
    balance_numbers,
    calculator_numbers,
    gym_numbers,
    karel_numbers,
    speed_numbers,
    synthesizer_numbers,
)
PAGES = (
    "README.md",
    "docs/calculator.md",
    "docs/datasets.md",
    "docs/design.md",
    "docs/karel.md",
    "docs/reasoning-gym.md",
    "docs/reproduction-tables.md",
    "docs/reproduction.md",
    "docs/synthesizer.md",
    "docs/theory.md",
)


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    return {name: text for writer in WRITERS for name, text in writer.blocks().items()}


def rewritten(page: str, texts: dict[str, str]) -> str:
    """Return the text of a page with new texts in its blocks."""

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{texts[match[2]]}\n{match[3]}"

    pattern = r"(<!-- numbers: ([\w-]+) -->)\n.*?(<!-- end -->)"
    return re.sub(pattern, fill, (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def main() -> None:
    """Rewrite the pages."""
    texts = blocks()
    for page in PAGES:
        (ROOT / page).write_text(rewritten(page, texts), encoding="utf-8")


if __name__ == "__main__":
    main()
