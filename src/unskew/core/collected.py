"""Examples that a user's code returns one by one, collected to a batch."""

from __future__ import annotations

from unskew.core.batch import Batch
from unskew.core.errors import RowError, brief
from unskew.core.values.nesting import check_nesting
from unskew.core.values.printed import printed


class Collected:
    """Collects examples, and refuses an example that changed after it was returned.

    A sampler that changes one dict and returns it each time would give a batch of equal examples.
    To notice this, the first example and then every example whose number is a power of two is
    printed when it comes, and again at the end. This finds every sampler that changes what it
    returned each time, also inside of a new dict; a change that happens seldom may stay unseen.
    """

    def __init__(self) -> None:
        """Start with no examples."""
        self._examples: list[object] = []
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self._examples)

    def add(self, example: object) -> None:
        """Add the next example."""
        row = len(self._examples)
        if row & (row - 1) == 0:
            self._texts[row] = _text(example)
        self._examples.append(example)

    def batch(self) -> Batch:
        """Return the examples as a batch; raise ``RowError`` for one that cannot be taken."""
        batch = Batch.of(self._examples)
        for row, text in self._texts.items():
            example = self._examples[row]
            if text and _text(example) != text:
                raise RowError(
                    row,
                    f"{brief(example)} was changed when later examples were made; make a new "
                    "object for each example",
                )
        return batch


def _text(example: object) -> str:
    """Return a text of an example; empty where it cannot be printed."""
    try:
        check_nesting([example])
        return printed(example)
    except Exception:  # it is refused with its batch, or it is of a user's own class
        return ""
