"""Compiles every kernel ahead, by doing a little of everything that is compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from unskew.core.batch import Batch
from unskew.core.compiled import compiling, notice_to
from unskew.core.domain import example_trace
from unskew.core.recipe import Recipe
from unskew.core.rowhash import row_hashes, text_hashes
from unskew.datasets.api import audit
from unskew.datasets.convert import convert
from unskew.datasets.generate import generate
from unskew.datasets.homogenize import homogenize
from unskew.datasets.verify import verify
from unskew.domains import load_domain

DOMAINS = ("calculator", "karel")  # those with kernels
FEW = 8  # examples of each source


def warm_up(tell: Callable[[str], object] = lambda _: None) -> int:
    """Compile what is not compiled yet, and return the number of kernels that were compiled.

    Compiled code stays on disk, so each machine needs this once for each version of unskew.
    ``tell`` is called with what is compiled next.
    """
    before = compiling().kernels
    with notice_to(lambda _: None), tempfile.TemporaryDirectory() as folder:
        tell("row hashes and homogenizing")
        _common()
        for domain in DOMAINS:
            tell(domain)
            _domain(domain, Path(folder))
    return compiling().kernels - before


def _common() -> None:
    """Compile what all data shares."""
    import pyarrow as pa

    texts = pa.array(["a", None])
    text_hashes(texts)
    row_hashes(Batch({"text": texts}), large=True)
    list(islice(homogenize("calculator/dcfg", by="length"), FEW))
    list(islice(homogenize("calculator/dcfg", by="length", budget=2), FEW))


def _domain(name: str, folder: Path) -> None:
    """Compile a domain's kernels: draw, write, read, check, measure and show a few examples."""
    domain = load_domain(name)
    for source in domain.sources:
        recipe = Recipe(f"{name}/{source}", FEW, shard_size=FEW // 2, distinct=True)
        made = generate(recipe, folder / f"{name}-{source}")
        verify(made.folder)
        text = folder / f"{name}-{source}.jsonl"
        convert(made, text)
        audit(f"{name}/{source}", [*domain.variables], n=FEW)
        audit(made, [*domain.variables])
        audit(text)
        if domain.views.trace is not None:
            first = next(next(made.batches()).examples())
            list(example_trace(first, domain))
