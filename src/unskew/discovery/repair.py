"""The command, or the line of Python, that makes data less skewed in some variables."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Form: TypeAlias = Literal["data", "source", "object", "sampler"]


@dataclass(frozen=True)
class Repair:
    """How to repair what was given.

    Args:
        form: files are resampled, a source generates again; a Python object is given to
            ``unskew.resample``, and a function that draws to ``unskew.homogenize``.
        target: the name of the data or of the source.
        settings: the parameters of the source that the user set.
        output: where the repaired data is written.
        trust: whether the user said that code named by the data may run.
    """

    form: Form
    target: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "balanced.parquet"
    trust: bool = False

    def line(self, names: Sequence[str]) -> str:
        """Return what balances the data by these variables."""
        if self.form in ("object", "sampler"):
            by = repr(names[0]) if len(names) == 1 else repr(list(names))
            function = "resample" if self.form == "object" else "homogenize"
            return f"unskew.{function}({self.target}, by={by})"
        words = ["unskew", "resample" if self.form == "data" else "generate", self.target]
        for name, value in self.settings.items():
            words += ["--set", f"{name}={value}"]
        for name in names:
            words += ["--homogenize", name]
        words += ["-o", self.output, *["--trust"] * (self.trust and self.form == "data")]
        return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Return a word as a shell reads it; characters that steer a terminal are written out."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "replace"))
        for c in word.replace("\\", "\\\\").replace("'", "\\'")
    )
    return f"$'{escaped}'"
