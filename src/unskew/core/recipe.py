"""Recipes: the only configuration of generation. A dataset is a recipe that has been run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.core.errors import UnskewError, brief, check_range, unknown
from unskew.core.values.json_text import parse_json

if TYPE_CHECKING:
    from unskew.io.location import Place

VERSION = 1
EPSILONS = "0 is exact and slow, 0.025 is the paper's choice"  # said where ε is refused
# Whose names may be opened: True, all of them; False, none; or the names that a person gave.
Trust: TypeAlias = bool | Collection[str]
MOST_SHARDS = 1_000_000  # each is a file with a number in its name
_KINDS: dict[str, tuple[type, ...]] = {
    "source": (str,),
    "n": (Integral,),
    "parameters": (Mapping,),
    "homogenize": (tuple,),
    "epsilon": (Real,),
    "seed": (Integral,),
    "shard_size": (Integral,),
    "given": (str,),
    "splits": (Mapping,),
    "exclude": (tuple,),
    "distinct": (bool,),
    "budget": (Real,),
    "closeness": (Real,),
    "target": (Mapping,),
    "jointly": (bool,),
    "pilot": (Integral,),
}
_GOAL = ("budget", "closeness", "target", "jointly", "pilot")
_OPTIONAL = ("given", "splits", "exclude", "distinct")  # not written where they are empty
_WORDS: dict[type, str] = {
    str: "a text",
    Integral: "a whole number",
    Mapping: "names with values",
    tuple: "a list of names",
    Real: "a number",
    bool: "true or false",
}


def check_price(budget: float | None, closeness: float | None, unit: str = "draw") -> None:
    """Refuse a budget or a closeness out of its range, and both together; None is no price."""
    if budget is not None and closeness is not None:
        raise UnskewError(
            f"budget is {brief(budget)} and closeness is {brief(closeness)}; give one of them"
        )
    if budget is not None:
        check_range("budget", budget, 1, step=f"1 keeps every {unit}")
    if closeness is not None:
        check_range("closeness", closeness, 0.001, 1, step="0.05 is a common choice")


@dataclass(frozen=True)
class Shard:
    """One shard of a recipe: the ``index``-th of its split's ``of``, and its examples."""

    split: str
    index: int
    of: int
    rows: int


@dataclass(frozen=True)
class Recipe:
    """What to draw, how to homogenize it, and how many examples to keep.

    Args:
        source: the name of a source.
        n: the number of examples to keep.
        parameters: those of the source.
        homogenize: names of variables. Several are homogenized together.
        epsilon: a smaller value gets closer to uniform and costs more draws.
        seed: the same recipe with the same seed gives the same bytes.
        shard_size: the examples of a shard. Each shard is homogenized on its own. A recipe of one
            shard is exactly the paper's procedure.
        given: a recipe, a table or a dataset. Its first ``n`` examples are made again (the same
            programs, new worlds). If no worlds are found for one, that example is left out.
        splits: names with numbers of examples, ``n`` in all. The key of an example (its program,
            its expression) decides in which split it may be, so no key is in two splits.
        exclude: datasets or recipes. Examples with their keys are left out.
        distinct: leave out examples whose key came before. There may then be fewer than ``n``.
        budget: draws for each kept example. The examples are then kept by a rule that comes closest
            to the targets of all variables at this cost, in place of ``epsilon``.
        closeness: in place of a budget: the total variation that each variable may be away from
            its target. The cheapest rule is taken.
        target: by the name of a variable, a shape ("uniform", "log") or shares: a mapping from
            values to shares, or a list of pairs. Uniform where nothing is named.
        jointly: with a budget or a closeness, balance the combinations of values, as ``epsilon``
            does, and not each variable.
        pilot: how many examples are drawn to fit the rule; 0 means that this is worked out.
        trusted: which of the names of code, files and addresses in the recipe may be opened; None
            means all. The recipe of a dataset is data, so no name in it is trusted unless a person
            says so. ``trusted`` is not written, and two recipes may be equal without it.
    """

    source: str
    n: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    homogenize: tuple[str, ...] = ()
    epsilon: float = 0.025
    seed: int = 0
    shard_size: int = 1 << 16
    given: str = ""
    splits: Mapping[str, int] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    distinct: bool = False
    budget: float = 0.0
    closeness: float = 0.0
    target: Mapping[str, Any] = field(default_factory=dict)
    jointly: bool = False
    pilot: int = 0
    trusted: frozenset[str] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        for name, kinds in _KINDS.items():
            value: Any = getattr(self, name)
            if (isinstance(value, bool) and kinds[0] is not bool) or not isinstance(value, kinds):
                raise UnskewError(f"recipe {name} is {value!r}; give {_WORDS[kinds[0]]}")
            if kinds[0] is Integral:  # NumPy's numbers are no JSON
                object.__setattr__(self, name, int(getattr(self, name)))
            elif kinds[0] is Real and not isinstance(value, (int, float)):
                object.__setattr__(self, name, float(getattr(self, name)))
        for name in ("homogenize", "exclude"):
            if not all(isinstance(entry, str) for entry in getattr(self, name)):
                raise UnskewError(f"recipe {name} is {getattr(self, name)!r}; give a list of names")
        self._check_splits()
        self._check_goal()
        # Sorted: the same recipe gives the same bytes, in whatever order these were named.
        object.__setattr__(self, "splits", dict(sorted(self.splits.items())))
        check_range("n", self.n, 1, step="ask for at least one example")
        check_range("epsilon", self.epsilon, 0, step=EPSILONS)
        check_range("seed", self.seed, 0)
        check_range("shard_size", self.shard_size, 1)
        if self.shards > MOST_SHARDS:
            raise UnskewError(
                f"recipe has {self.shards} shards; allowed are {MOST_SHARDS}: raise shard_size "
                f"({self.shard_size})"
            )
        twice = [name for name in self.homogenize if self.homogenize.count(name) > 1]
        if twice:
            raise UnskewError(f"recipe homogenizes by {twice[0]!r} twice; name it once")
        if self.given and self.homogenize:
            raise UnskewError(
                f"recipe takes given examples ({self.given}) and homogenizes; make them first, "
                "then homogenize a source of them"
            )

    def _check_splits(self) -> None:
        for split, rows in self.splits.items():
            if not (isinstance(split, str) and re.fullmatch(r"[A-Za-z]\w*", split)):
                raise UnskewError(
                    f"recipe splits has {split!r}; name them with letters, digits and _"
                )
            if isinstance(rows, bool) or not isinstance(rows, int):
                raise UnskewError(f"recipe split {split!r} is {rows!r}; give a whole number")
            check_range(f"split {split}", rows, 1, step="ask for at least one example")
        if self.splits and sum(self.splits.values()) != self.n:
            raise UnskewError(
                f"recipe n is {self.n}, but its splits have {sum(self.splits.values())}; "
                "make them equal"
            )
        if self.splits and self.given:
            raise UnskewError(
                f"recipe takes given examples ({self.given}), which have their splits; leave "
                "splits out"
            )

    def _check_goal(self) -> None:
        """Check budget, closeness and targets; shares become pairs, which JSON can hold."""
        check_range("pilot", self.pilot, 0, step="0 means that it is worked out")
        pairs = {}
        for name, given in self.target.items():
            target = [*given.items()] if isinstance(given, Mapping) else given
            listed = isinstance(target, (list, tuple)) and all(len(pair) == 2 for pair in target)
            if not (isinstance(target, str) or listed):
                raise UnskewError(
                    f"recipe target of {name!r} is {target!r}; give a shape like 'uniform', or "
                    "shares by value"
                )
            pairs[name] = target if isinstance(target, str) else [list(pair) for pair in target]
        object.__setattr__(self, "target", pairs)
        check_price(self.budget or None, self.closeness or None)  # in a recipe, 0 is no price
        asked = [name for name in ("budget", "closeness") if getattr(self, name)]
        others = [name for name in ("target", "jointly", "pilot") if getattr(self, name)]
        if others and not asked:
            raise UnskewError(f"recipe has {others[0]} without a price; give budget or closeness")
        if asked and not self.homogenize:
            raise UnskewError(f"recipe has {asked[0]}, but homogenizes nothing; name a variable")

    @property
    def balanced(self) -> str:
        """The names of the homogenized variables; a × joins those that count jointly."""
        jointly = self.jointly or not self.has_goal
        return (" × " if jointly else ", ").join(self.homogenize)

    @property
    def price(self) -> str:
        """What closeness costs, or how close it gets, in words: "at ε = 0.025"."""
        if self.budget:
            return f"for {self.budget:g} draws per kept example"
        if self.closeness:
            return f"to within {self.closeness:g} of the target"
        return f"at ε = {self.epsilon:g}"

    @property
    def has_goal(self) -> bool:
        """Whether examples are kept by a rule for a budget or a closeness, not by ``epsilon``."""
        return bool(self.budget or self.closeness)

    def trusts(self, name: str) -> bool:
        """Return whether a name in the recipe may be imported or opened."""
        return self.trusted is None or name in self.trusted

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the examples that it reads: given and excluded ones."""
        return tuple(name for name in (self.given, *self.exclude) if name)

    @property
    def summary(self) -> str:
        """One line that says what the recipe makes."""
        settings = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        text = f"{self.n:,} of {self.source}" + (f" ({settings})" if settings else "")
        return f"{text}, programs of {self.given}" if self.given else text

    @property
    def shards(self) -> int:
        """Number of shards."""
        return sum(-(-rows // self.shard_size) for rows in self.rows_of_splits.values())

    @property
    def rows_of_splits(self) -> Mapping[str, int]:
        """The splits. Without any, all examples are training data."""
        return self.splits or {"train": self.n}

    def shard_at(self, number: int) -> Shard:
        """Return a shard by its number. The shards of the first split come first."""
        left = number
        for split, rows in self.rows_of_splits.items():
            of = -(-rows // self.shard_size)
            if left < of:
                return Shard(split, left, of, min(self.shard_size, rows - left * self.shard_size))
            left -= of
        raise UnskewError(f"shard is {number}; the recipe has {self.shards}")

    def shard_rows(self, number: int) -> int:
        """Return how many examples a shard keeps. Only the last one of a split may keep fewer."""
        return self.shard_at(number).rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        data = {"unskew_recipe": VERSION, **facts_of(self)}
        data |= {name: list(data[name]) for name in ("homogenize", "exclude")}
        for name in _OPTIONAL:
            if not data[name]:
                del data[name]
        if self.has_goal:
            del data["epsilon"]  # it does not count
        return data

    def to_json(self) -> str:
        """Return the canonical text: the same recipe, the same bytes."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @property
    def hash(self) -> str:
        """The hash of the canonical text: sixteen hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], trust: Trust = True) -> Recipe:
        """Return the recipe of plain data. An unknown field is an error."""
        given = dict(data)
        version = given.pop("unskew_recipe", None)
        if version != VERSION:
            newer = type(version) is int and version > VERSION
            raise UnskewError(
                f"recipe version is {version!r}; this unskew reads version {VERSION}: "
                + ("update unskew" if newer else f"set unskew_recipe to {VERSION}")
            )
        known = list(_KINDS)
        for name in given:
            if name not in known:
                raise unknown("recipe field", name, known)
        for name in ("source", "n"):
            if name not in given:
                raise UnskewError(f"recipe has no {name!r}; add it")
        for name in ("homogenize", "exclude"):
            if isinstance(given.get(name), list):
                given[name] = tuple(given[name])
        return cls(**given, trusted=trusted_names(trust))

    @classmethod
    def read(cls, path: Place, trust: Trust = True) -> Recipe:
        """Read a recipe file. Give ``trust=False`` if the file came with somebody's data."""
        try:
            data = parse_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            reason = error.strerror or str(error)
            raise UnskewError(
                f"recipe {path} cannot be read ({reason}); check the path and its permissions"
            ) from error
        except ValueError as error:
            raise UnskewError(
                f"recipe {path} cannot be read ({error}); mend it, or begin with a recipe.json"
            ) from error
        if not isinstance(data, dict):
            raise UnskewError(f"recipe {path} is no JSON object; start from a recipe.json")
        return cls.from_dict(data, trust)


def facts_of(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain data, without the trust of a recipe in it.

    The goal of a recipe is left out if it has none: recipes of older versions keep their hashes.
    """

    def written(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {
            name: value
            for name, value in pairs
            if name != "trusted" and (value or name not in _GOAL)
        }

    return asdict(record, dict_factory=written)


def trusted_names(trust: Trust) -> frozenset[str] | None:
    """Return the names that may be opened; None means all."""
    if isinstance(trust, bool):
        return None if trust else frozenset()
    return frozenset([trust] if isinstance(trust, str) else trust)
