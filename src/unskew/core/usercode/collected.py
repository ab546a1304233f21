"""Examples that a user's code returns one by one, collected to a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, ValuesView

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
        self._due = 0  # the number of the next example that is printed

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self._examples)

    def add(self, example: object) -> None:
        """Add the next example."""
        examples = self._examples
        if len(examples) == self._due:
            if type(example) not in _FIXED:
                self._texts[self._due] = _text(example)
            self._due = 2 * self._due or 1
        examples.append(example)

    def batch(self) -> Batch:
        """Return the examples as a batch; raise ``RowError`` for one that cannot be taken."""
        batch = Batch.of(self._examples)
        last = len(self._examples) - 1  # nothing came after it that could have changed it
        for row, text in self._texts.items():
            example = self._examples[row]
            if row < last and text and _text(example) != text:
                raise _changed(row, example)
        return batch


class Returned:
    """Refuses an object that a sampler changed and returned again, from batch to batch.

    Small batches have few later examples that could show a change. So a few examples are kept
    with their texts: of each 256, those whose number is a power of two. An example that holds the
    same list, dict or other object as one of these, but with another text, is refused. An object
    that comes once may be changed by whoever got it.
    """

    def __init__(self) -> None:
        """Start with no examples."""
        self._known: dict[int, tuple[object, str]] = {}  # an object that is held keeps its id
        self._count = 0

    def check(self, examples: Iterable[object]) -> None:
        """Look at the examples of the next batch; raise ``RowError`` for one that was changed."""
        for row, example in enumerate(examples):
            if type(example) in _FIXED:
                continue
            parts = list(_parts(example))
            for part in parts:
                known = self._known.get(id(part))
                if known is not None and known[1] and _text(part) != known[1]:
                    raise _changed(row, example)
            if self._count & (self._count - 1) == 0:
                self._known.update((id(part), (part, _text(part))) for part in parts)
            self._count += 1
            if self._count == _ROUND:
                self._known, self._count = {}, 0


_ROUND = 256  # examples until others are kept
_FIXED = frozenset({str, bytes, int, float, complex, bool, type(None)})  # nobody can change these


def _parts(value: object) -> Iterator[object]:
    """Yield all objects in an example, and the example itself, that can be changed."""
    if type(value) in _FIXED:
        return
    if not isinstance(value, tuple):
        yield value
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple, ValuesView)):
        for item in value:
            yield from _parts(item)


def _changed(row: int, example: object) -> RowError:
    return RowError(
        row,
        f"{brief(example)} was changed when later examples were made; make a new object for each "
        "example",
    )


def _text(example: object) -> str:
    """Return a text of an example; empty where it cannot be printed."""
    try:
        check_nesting([example])
        return printed(example)
    except Exception:  # it is refused with its batch, or it is of a user's own class
        return ""
