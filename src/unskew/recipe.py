"""Recipes: the only configuration of generation. JSON, hashed; a dataset is a recipe run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from unskew.errors import UnskewError, check_range, unknown
from unskew.theory import EPSILONS

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
_KINDS: dict[str, tuple[type, ...]] = {
    "source": (str,),
    "n": (Integral,),
    "parameters": (Mapping,),
    "homogenize": (tuple,),
    "epsilon": (Real,),
    "seed": (Integral,),
    "shard_size": (Integral,),
    "given": (str,),
}
_WORDS: dict[type, str] = {
    str: "a text",
    Integral: "a whole number",
    Mapping: "names with values",
    tuple: "a list of names",
    Real: "a number",
}


@dataclass(frozen=True)
class Recipe:
    """What to draw, how to homogenize it, and how much of it to keep.

    Each shard of ``shard_size`` kept examples runs SampledHomogenize on its own, from its own
    streams; one shard is the paper's procedure exactly. ``given`` names a recipe, a table or a
    dataset whose first ``n`` examples are made anew (the same programs, new worlds); those of
    which nothing can be made are left out.
    """

    source: str
    n: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    homogenize: tuple[str, ...] = ()
    epsilon: float = 0.025
    seed: int = 0
    shard_size: int = 1 << 16
    given: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        for name, kinds in _KINDS.items():
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise UnskewError(f"recipe {name} is {value!r}; give {_WORDS[kinds[0]]}")
            if kinds[0] is Integral:  # NumPy's whole numbers are no JSON
                object.__setattr__(self, name, int(getattr(self, name)))
        if not all(isinstance(variable, str) for variable in self.homogenize):
            raise UnskewError(f"recipe homogenize is {self.homogenize!r}; give a list of names")
        check_range("n", self.n, 1, step="ask for at least one example")
        check_range("epsilon", self.epsilon, 0, step=EPSILONS)
        check_range("seed", self.seed, 0)
        check_range("shard_size", self.shard_size, 1)
        if self.given and self.homogenize:
            raise UnskewError(
                f"recipe takes given examples ({self.given}) and homogenizes; make them first, "
                "then homogenize a source of them"
            )

    @property
    def summary(self) -> str:
        """What it makes, in a line."""
        settings = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        text = f"{self.n:,} of {self.source}" + (f" ({settings})" if settings else "")
        return f"{text}, programs of {self.given}" if self.given else text

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.n // self.shard_size)

    def shard_rows(self, index: int) -> int:
        """Return how many examples shard ``index`` keeps: all but the last are full."""
        return min(self.shard_size, self.n - index * self.shard_size)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        data = {"unskew_recipe": VERSION, **asdict(self), "homogenize": list(self.homogenize)}
        if not self.given:
            del data["given"]
        return data

    def to_json(self) -> str:
        """Return the canonical text: the same recipe, the same bytes."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @property
    def hash(self) -> str:
        """A name for the recipe: sixteen hexadecimal digits of its canonical text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Read a recipe; a field that is not known is refused, not ignored."""
        given = dict(data)
        version = given.pop("unskew_recipe", None)
        if version != VERSION:
            raise UnskewError(
                f"recipe version is {version!r}; this unskew reads version {VERSION}: "
                "set unskew_recipe, or update unskew"
            )
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise unknown("recipe field", name, known)
        for name in ("source", "n"):
            if name not in given:
                raise UnskewError(f"recipe has no {name!r}; add it")
        variables = given.get("homogenize", ())
        if isinstance(variables, list):
            given["homogenize"] = tuple(variables)
        return cls(**given)

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a recipe file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UnskewError(f"recipe {path} cannot be read: {error}") from error
        if not isinstance(data, dict):
            raise UnskewError(f"recipe {path} is no JSON object; start from a recipe.json")
        return cls.from_dict(data)
