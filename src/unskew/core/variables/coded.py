"""Values of many rows in which each distinct value is held once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Coded:
    """The value of row i is ``distinct[codes[i]]``. No value comes twice in ``distinct``.

    Work that depends on the value alone is done once for each distinct value.
    """

    distinct: Sequence[Hashable]
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def tolist(self) -> list[Hashable]:
        """Return the value of each row."""
        return [self.distinct[code] for code in self.codes.tolist()]
