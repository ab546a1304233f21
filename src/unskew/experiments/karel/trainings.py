"""The models of the experiments by name: what each is trained on, how, and how long.

Two regimes. Many passes over a fixed set: Bunel et al. go a hundred times through 1.1 M examples;
the paper does not say how often. Here fifty passes go over as many (``…, whole``), and a hundred
over a smaller set, in proportion to a shorter training (``…, passes``). Ours is an endless stream
of which every example is used at most a stated number of times.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from unskew.domains.karel.recipes import RECIPES
from unskew.errors import unknown
from unskew.experiments.karel.scales import Scale
from unskew.models.karel import SynthesizerConfig
from unskew.models.karel_mixture import Mixture
from unskew.models.karel_run import RunConfig
from unskew.models.karel_training import StepConfig, begun_with_differences
from unskew.recipe import Recipe, facts_of

HEADLINE = ("baseline", "uniform")  # these are trained with several seeds
# Models of narrow worlds: batches of a quarter, four times as many; a higher rate undoes the start.
NARROW_SHARE, NARROW_RATE = 4, 2e-3
AUGMENTED = (1_116_854, 400_000)  # examples like the original's, and of actions alone (5.3)


@dataclass(frozen=True)
class Training:
    """One model. All that its weights depend on is in here; the hash names it."""

    name: str
    seed: int
    model: SynthesizerConfig
    step: StepConfig
    steps: int
    sets: tuple[Recipe, ...] = ()  # fixed, one after another; or
    mixture: Mixture | None = None  # endless
    reuse: int = 1

    @property
    def hash(self) -> str:
        """Sixteen digits that change when anything but the name does."""
        facts = facts_of(self) | {"model": self.model.facts(), "step": self.step.facts()}
        if self.mixture is not None:
            facts["mixture"] = self.mixture.settings()
        del facts["name"]
        text = json.dumps(facts, sort_keys=True, default=dict)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def config(self) -> RunConfig:
        """The same as a run has it."""
        return RunConfig(self.model, self.step, steps=self.steps)

    @property
    def data(self) -> str:
        """What it is trained on, in words."""
        if self.mixture is None:
            return " and ".join(recipe.summary for recipe in self.sets)
        parts = zip(self.mixture.recipes, self.mixture.shares, strict=True)
        named = " and ".join(_words(recipe, share, self.mixture) for recipe, share in parts)
        times = "once" if self.reuse == 1 else f"at most {self.reuse} times"
        return f"an endless stream of {named}, each example used {times}"


def _words(recipe: Recipe, share: int, mixture: Mixture) -> str:
    parts = f" ({share} of {sum(mixture.shares)})" if len(mixture.shares) > 1 else ""
    even = f", homogenized by {' × '.join(recipe.homogenize)}" if recipe.homogenize else ""
    settings = ", ".join(f"{name}={value}" for name, value in recipe.parameters.items())
    return f"{recipe.source}{f' ({settings})' if settings else ''}{parts}{even}"


Make = Callable[[Scale, int], Training]


def training(name: str, scale: Scale, seed: int = 0) -> Training:
    """Return a model of the experiments by name."""
    if name in TRAININGS:
        return replace(TRAININGS[name](scale, seed), name=name)
    kind, _, rest = name.partition(" ")
    if kind == "narrow" and (rest in ("msr", "uniform") or f"narrow-{rest}" in RECIPES):
        return replace(_narrow(rest, scale, seed), name=name)
    if kind in ("msr", "uniform") and (rest == "stream" or rest.replace(",", "").isdigit()):
        return replace(_sized(kind, rest, scale, seed), name=name)
    raise unknown("model", name, TRAININGS)


def seeds_of(name: str, scale: Scale) -> range:
    """Return the seeds with which a model is trained."""
    return range(scale.seeds if name in HEADLINE else 1)


def regimes(scale: Scale) -> str:
    """Say what the names of models mean."""
    whole, passed = (
        f"{steps * scale.batch / rows:.0f} passes over {rows:,} examples"
        for steps, rows in ((scale.whole_steps, scale.whole), (scale.short, scale.passed))
    )
    reuse = "once" if scale.reuse == 1 else f"at most {scale.reuse} times"
    return (
        f"whole: {whole}. passes: {passed}. The others: an endless stream, each example used "
        f"{reuse}."
    )


def _streamed(
    *recipes: Recipe,
    shares: tuple[int, ...] = (),
    shown: tuple[int, int] = (5, 5),
    length: Callable[[Scale], int] = lambda scale: scale.steps,
    seeing: bool = False,
) -> Make:
    """Train on an endless mixture; ``seeing`` begins with weights that see differences."""

    def make(scale: Scale, seed: int) -> Training:
        mixture = Mixture.of(
            [replace(recipe, seed=seed) for recipe in recipes], shares, scale.pilot
        )
        step = StepConfig(scale.batch, shown, scale.rate, seed=seed)
        model = replace(scale.model, seed=seed)
        if seeing:
            model, step = begun_with_differences(model, step)
        return Training("", seed, model, step, length(scale), mixture=mixture, reuse=scale.reuse)

    return make


def _passed(*names: str, shown: tuple[int, int] = (5, 5)) -> Make:
    """Train on fixed sets, the first of ``passed`` examples."""

    def make(scale: Scale, seed: int) -> Training:
        return _fixed(_sets(names, scale.passed), scale.short, shown, scale, seed)

    return make


def _whole(*names: str, shown: tuple[int, int] = (5, 5)) -> Make:
    """Train on fixed sets, the first as large as the original's."""

    def make(scale: Scale, seed: int) -> Training:
        return _fixed(_sets(names, scale.whole), scale.whole_steps, shown, scale, seed)

    return make


def _sets(names: Sequence[str], rows: int) -> tuple[Recipe, ...]:
    """Return the first of some sets with so many rows, the rest in the paper's proportion."""
    whole = RECIPES[names[0]].n
    return tuple(_first(name, RECIPES[name].n * rows // whole) for name in names)


def _sized(kind: str, size: str, scale: Scale, seed: int) -> Training:
    """Train on a set of so many examples, for as many steps whatever its size; or on a stream."""
    if size == "stream":
        stream = _streamed(Recipe(f"karel/{kind}", 1), length=lambda scale: scale.short)
        return stream(scale, seed)
    sets = (_first(f"{kind}-train", int(size.replace(",", ""))),)
    return _fixed(sets, scale.short, (5, 5), scale, seed)


def _narrow(name: str, scale: Scale, seed: int) -> Training:
    """Train on worlds of one narrow test set's kind, the programs those of the original (5.4).

    ``msr`` and ``uniform`` are trained as long on as many examples of theirs, to compare with.
    Begun as the others, most of these models learn programs and no worlds (docs/log.md); so these
    begin with weights that see what a program changed.
    """
    rows = scale.narrowed
    if name in ("msr", "uniform"):
        recipe = _first(f"{name}-train", rows)
    else:
        like = RECIPES[f"narrow-{name}"]
        # The test set's draws have another seed.
        recipe = replace(_first("msr-train", rows), source=like.source, seed=like.seed + 6)
        recipe = replace(recipe, parameters=like.parameters, given="karel/msr-train")
    made = _fixed((recipe,), NARROW_SHARE * scale.narrow_steps, (1, 5), scale, seed)
    batch, rate = max(1, scale.batch // NARROW_SHARE), min(scale.rate, NARROW_RATE)
    step = replace(made.step, batch=batch, rate=rate)
    model, step = begun_with_differences(made.model, step)
    return replace(made, model=model, step=step)


def _fixed(
    sets: tuple[Recipe, ...], steps: int, shown: tuple[int, int], scale: Scale, seed: int
) -> Training:
    step = StepConfig(scale.batch, shown, scale.rate, seed=seed)
    return Training("", seed, replace(scale.model, seed=seed), step, steps, sets=sets)


def _first(name: str, n: int) -> Recipe:
    """Return the first examples of one of the paper's sets."""
    return replace(RECIPES[name], n=n, shard_size=min(RECIPES[name].shard_size, n))


MSR, UNIFORM, ACTIONS = (Recipe(f"karel/{name}", 1) for name in ("msr", "uniform", "actions"))
ANY_COUNTS = replace(UNIFORM, parameters={"counts": "any"})
COVERED = replace(MSR, parameters={"branches": "all"})

# Aimed at what the first `beyond` does worst: many markers but few on each, nesting that is shown.
WIDER = (
    replace(ANY_COUNTS, homogenize=("inside",), epsilon=0.02),
    replace(ANY_COUNTS, homogenize=("size",)),
    ANY_COUNTS,
    replace(COVERED, homogenize=("inside",), epsilon=0.02),
    MSR,
    ACTIONS,
)
WIDER_SHARES = (3, 2, 3, 4, 3, 1)

TRAININGS: dict[str, Make] = {
    "baseline": _streamed(MSR),
    "baseline, twice as long": _streamed(MSR, length=lambda scale: 2 * scale.steps),
    "baseline, 1 to 5 pairs": _streamed(MSR, shown=(1, 5)),
    "baseline, whole": _whole("msr-train"),
    "baseline, passes": _passed("msr-train"),
    "uniform": _streamed(UNIFORM, shown=(1, 5)),  # section 5.1 shows 1 to 5 pairs
    "uniform, 5 pairs": _streamed(UNIFORM),
    "uniform, whole": _whole("uniform-train", shown=(1, 5)),
    "uniform, passes": _passed("uniform-train", shown=(1, 5)),
    "augmented": _streamed(MSR, ACTIONS, shares=AUGMENTED),
    "augmented, whole": _whole("msr-train", "actions-train"),
    "augmented, passes": _passed("msr-train", "actions-train"),
    "beyond": _streamed(
        replace(UNIFORM, homogenize=("inside",), epsilon=0.02),  # which constructs in which
        replace(UNIFORM, homogenize=("size",)),
        replace(UNIFORM, homogenize=("control_flow",), epsilon=0.1),
        UNIFORM,
        MSR,
        ACTIONS,
        shares=(2, 1, 1, 2, 3, 1),
        shown=(1, 5),
    ),
    "beyond, wider": _streamed(*WIDER, shares=WIDER_SHARES, shown=(1, 5)),
    "beyond, longer": _streamed(
        *WIDER,
        shares=WIDER_SHARES,
        shown=(1, 5),
        length=lambda scale: max(scale.whole_steps, 2 * scale.steps),
        seeing=True,
    ),
}
