"""Where a sampler is: the epoch, and how much of the epoch it has given out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief, check_whole

Settings: TypeAlias = dict[str, int | float | str | bool]
_AT_ONCE = 1 << 12  # items that become Python numbers together


class Epochs:
    """Counts what is given out of one epoch after the other, so that a run can go on."""

    def __init__(self, length: int, settings: Settings) -> None:
        """Begin with epoch 0. ``settings`` are what a saved state must agree with."""
        self.length = length
        self.epoch = 0
        self._settings = settings
        self._given = 0
        self._is_set = True  # whether the next iteration begins at this epoch and this item

    def items(self, items: Callable[[int], NDArray[np.int64]]) -> Iterator[Any]:
        """Yield what is left of an epoch; ``items(epoch)`` returns all of it.

        The next iteration gives the next epoch. If this one is left before its end, the next
        iteration gives the same epoch from its beginning.
        """
        if not self._is_set:
            self.epoch += self._given == self.length
            self._given = 0
        self._is_set = False
        every = items(self.epoch)
        for start in range(self._given, self.length, _AT_ONCE):
            for item in every[start : min(start + _AT_ONCE, self.length)].tolist():
                self._given += 1
                yield item

    def begin(self, epoch: int) -> None:
        """Let the next iteration give this epoch: what is left of it after a state was loaded."""
        check_whole("epoch", epoch, 0)
        if not (self._is_set and epoch == self.epoch):
            self.epoch, self._given = int(epoch), 0
        self._is_set = True

    def state(self, used: int | None) -> dict[str, Any]:
        """Return the epoch and the position, ready for JSON; ``used`` items of it were used."""
        if used is not None:
            check_whole("used", used, 0)
            if used > self.length:
                raise UnskewError(
                    f"used is {used}, and an epoch has {self.length} items; count from the "
                    "beginning of the epoch"
                )
        position = self._given if used is None else int(used)
        return {"epoch": self.epoch, "position": position, **self._settings}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on where ``state`` was saved; refuse the state of another sampler."""
        if not isinstance(state, Mapping) or not {"epoch", "position"} <= set(state):
            raise UnskewError(f"the state is {brief(state)}; load what state_dict() returned")
        for name, value in self._settings.items():
            if state.get(name) != value:
                raise UnskewError(
                    f"the state was saved with {name} {brief(state.get(name))}, and this sampler "
                    f"has {brief(value)}; make the sampler as it was made then"
                )
        check_whole("epoch", state["epoch"], 0)
        check_whole("position", state["position"], 0)
        if state["position"] > self.length:
            raise UnskewError(
                f"the state is at item {state['position']} of {self.length}; it was altered: load "
                "what state_dict() returned"
            )
        ended = state["position"] == self.length
        self.epoch = int(state["epoch"]) + ended
        self._given = 0 if ended else int(state["position"])
        self._is_set = True
