"""The models of the experiments by name: what each is trained on, how, and for how long.

There are two ways to train. One makes many passes over a fixed set. Bunel et al. make a hundred
passes over 1.1 M examples; the paper does not say how many it makes. Here ``…, whole`` makes fifty
passes over as many examples, and ``…, passes`` makes a hundred passes over a smaller set, in
proportion to its shorter training. The other way is an endless stream: each example is used at
most ``reuse`` times.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from unskew.core.errors import unknown
from unskew.core.recipe import Recipe, facts_of
from unskew.domains.karel.recipes import RECIPES
from unskew.experiments.karel.lab.scales import Scale
from unskew.models.karel.data.feed import Mixture
from unskew.models.karel.network.synthesizer import SynthesizerConfig
from unskew.models.karel.train.run import RunConfig
from unskew.models.karel.train.step import StepConfig, begun_with_differences

HEADLINE = ("baseline", "uniform")  # these are trained with several seeds
# Models of narrow worlds take four times as many batches of a quarter of the size. A higher
# learning rate would undo the weights with which they begin.
NARROW_SHARE, NARROW_RATE = 4, 2e-3
AUGMENTED = (1_116_854, 400_000)  # examples like the original's, and without control flow (5.3)


@dataclass(frozen=True)
class Training:
    """The training of one model: everything that its weights depend on."""

    name: str
    seed: int
    model: SynthesizerConfig
    step: StepConfig
    steps: int
    sets: tuple[Recipe, ...] = ()  # fixed sets, joined; empty if there is a mixture
    mixture: Mixture | None = None  # an endless stream
    reuse: int = 1  # how often an example of the stream is used

    @property
    def hash(self) -> str:
        """Sixteen digits that change with everything except the name."""
        facts = facts_of(self) | {"model": self.model.facts(), "step": self.step.facts()}
        if self.mixture is not None:
            facts["mixture"] = self.mixture.settings()
        del facts["name"]
        text = json.dumps(facts, sort_keys=True, default=dict)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def config(self) -> RunConfig:
        """The configuration of the run."""
        return RunConfig(self.model, self.step, steps=self.steps)

    @property
    def examples(self) -> int:
        """How many examples the training sees, counting repeats."""
        return self.steps * self.step.batch

    @property
    def streamed(self) -> int:
        """How many different examples a stream must give for this training."""
        return -(-self.examples // self.reuse)

    @property
    def data(self) -> str:
        """What the model is trained on, in words."""
        if self.mixture is None:
            return " and ".join(recipe.summary for recipe in self.sets)
        parts = zip(self.mixture.recipes, self.mixture.shares, strict=True)
        named = " and ".join(_words(recipe, share, self.mixture) for recipe, share in parts)
        return f"an endless stream of {named}, each example used {_times(self.reuse)}"


def _words(recipe: Recipe, share: int, mixture: Mixture) -> str:
    parts = f" ({share} of {sum(mixture.shares)})" if len(mixture.shares) > 1 else ""
    even = f", homogenized by {' × '.join(recipe.homogenize)}" if recipe.homogenize else ""
    settings = ", ".join(f"{name}={value}" for name, value in recipe.parameters.items())
    return f"{recipe.source}{f' ({settings})' if settings else ''}{parts}{even}"


Make: TypeAlias = Callable[[Scale, int], Training]
Shown: TypeAlias = tuple[int, int]  # the fewest and the most pairs that a model sees


def training(name: str, scale: Scale, seed: int = 0) -> Training:
    """Return the training of a model by the name of the model."""
    make = TRAININGS.get(name)
    kind, _, rest = name.partition(" ")
    if kind == "narrow" and (rest in ("msr", "uniform") or f"narrow-{rest}" in RECIPES):
        make = partial(_narrow, rest)
    if kind in ("msr", "uniform") and (rest == "stream" or rest.replace(",", "").isdigit()):
        make = partial(_sized, kind, rest)
    if make is None:
        raise unknown("model", name, TRAININGS)
    return replace(make(scale, seed), name=name)


def seeds_of(name: str, scale: Scale) -> range:
    """Return the seeds of a model; the models of the headline have several."""
    return range(scale.seeds if name in HEADLINE else 1)


def regimes(scale: Scale) -> str:
    """Say how the models named ``…, whole``, ``…, passes`` and the others see their examples."""
    whole, passed = (
        f"{steps * scale.batch / rows:.0f} passes over {rows:,} examples"
        for steps, rows in ((scale.whole_steps, scale.whole), (scale.short, scale.passed))
    )
    return (
        f"A model named “whole” makes {whole}. A model named “passes” makes {passed}. All other "
        f"models see an endless stream and use each example {_times(scale.reuse)}."
    )


def _times(reuse: int) -> str:
    return "once" if reuse == 1 else f"at most {reuse} times"


def _streamed(
    recipes: Sequence[Recipe],
    scale: Scale,
    seed: int,
    *,
    shares: tuple[int, ...] = (),
    shown: Shown = (5, 5),
    length: Callable[[Scale], int] = lambda scale: scale.steps,
    seeing: bool = False,
) -> Training:
    """Train on an endless mixture; ``seeing`` begins with weights that see what changed."""
    mixture = Mixture.of([replace(recipe, seed=seed) for recipe in recipes], shares, scale.pilot)
    made = _training(scale, seed, length(scale), shown, mixture=mixture, reuse=scale.reuse)
    return _seeing(made) if seeing else made


def _passes(
    names: Sequence[str], scale: Scale, seed: int, *, whole: bool = False, shown: Shown = (5, 5)
) -> Training:
    """Train on fixed sets; the others are in the paper's proportion to the first.

    If ``whole``, the first set is as large as the original training set.
    """
    rows, steps = (scale.whole, scale.whole_steps) if whole else (scale.passed, scale.short)
    first = RECIPES[names[0]].n
    sets = tuple(_first(name, RECIPES[name].n * rows // first) for name in names)
    return _training(scale, seed, steps, shown, sets=sets)


def _sized(kind: str, size: str, scale: Scale, seed: int) -> Training:
    """Train on a set of ``size`` examples, or on a stream; the number of steps is the same."""
    if size == "stream":
        recipes = [Recipe(f"karel/{kind}", 1)]
        return _streamed(recipes, scale, seed, length=lambda scale: scale.short)
    sets = (_first(f"{kind}-train", int(size.replace(",", ""))),)
    return _training(scale, seed, scale.short, sets=sets)


def _narrow(name: str, scale: Scale, seed: int) -> Training:
    """Train on worlds like those of one narrow test set; the programs are the original ones (5.4).

    To compare, ``msr`` and ``uniform`` are trained for as many steps on as many examples. With
    the usual first weights most of these models learn programs and ignore the worlds (docs/log.md).
    So they begin with weights that see what a program changed.
    """
    rows = scale.narrowed
    if name in ("msr", "uniform"):
        recipe = _first(f"{name}-train", rows)
    else:
        like = RECIPES[f"narrow-{name}"]
        # Use another seed than the test set.
        recipe = replace(_first("msr-train", rows), source=like.source, seed=like.seed + 6)
        recipe = replace(recipe, parameters=like.parameters, given="karel/msr-train")
    steps = NARROW_SHARE * scale.narrow_steps
    made = _training(scale, seed, steps, (1, 5), sets=(recipe,))
    batch, rate = max(1, scale.batch // NARROW_SHARE), min(scale.rate, NARROW_RATE)
    return _seeing(replace(made, step=replace(made.step, batch=batch, rate=rate)))


def _training(scale: Scale, seed: int, steps: int, shown: Shown = (5, 5), **data: Any) -> Training:
    """Return a training of the scale's model; ``data`` says what the model is trained on."""
    step = StepConfig(scale.batch, shown, scale.rate, seed=seed)
    return Training("", seed, replace(scale.model, seed=seed), step, steps, **data)


def _seeing(made: Training) -> Training:
    """Return the same training, which begins with weights that see what a program changed."""
    model, step = begun_with_differences(made.model, made.step)
    return replace(made, model=model, step=step)


def _first(name: str, n: int) -> Recipe:
    """Return the first examples of one of the paper's sets."""
    return replace(RECIPES[name], n=n, shard_size=min(RECIPES[name].shard_size, n))


MSR, UNIFORM, ACTIONS = (Recipe(f"karel/{name}", 1) for name in ("msr", "uniform", "actions"))
ANY_COUNTS = replace(UNIFORM, parameters={"counts": "any"})
COVERED = replace(MSR, parameters={"branches": "all"})

# The first `beyond` is worst at worlds with many marked cells that hold few markers each, and at
# nested programs whose inner loop runs. This mixture has more of both.
WIDER = (
    replace(ANY_COUNTS, homogenize=("inside",), epsilon=0.02),
    replace(ANY_COUNTS, homogenize=("size",)),
    ANY_COUNTS,
    replace(COVERED, homogenize=("inside",), epsilon=0.02),
    MSR,
    ACTIONS,
)
_wider = partial(_streamed, WIDER, shares=(3, 2, 3, 4, 3, 1), shown=(1, 5))
BEYOND = (
    replace(UNIFORM, homogenize=("inside",), epsilon=0.02),  # which constructs in which
    replace(UNIFORM, homogenize=("size",)),
    replace(UNIFORM, homogenize=("control_flow",), epsilon=0.1),
    UNIFORM,
    MSR,
    ACTIONS,
)
AUGMENTED_SETS = ("msr-train", "actions-train")

TRAININGS: dict[str, Make] = {
    "baseline": partial(_streamed, [MSR]),
    "baseline, twice as long": partial(_streamed, [MSR], length=lambda scale: 2 * scale.steps),
    "baseline, 1 to 5 pairs": partial(_streamed, [MSR], shown=(1, 5)),
    "baseline, whole": partial(_passes, ["msr-train"], whole=True),
    "baseline, passes": partial(_passes, ["msr-train"]),
    "uniform": partial(_streamed, [UNIFORM], shown=(1, 5)),  # section 5.1 shows 1 to 5 pairs
    "uniform, 5 pairs": partial(_streamed, [UNIFORM]),
    "uniform, whole": partial(_passes, ["uniform-train"], whole=True, shown=(1, 5)),
    "uniform, passes": partial(_passes, ["uniform-train"], shown=(1, 5)),
    "augmented": partial(_streamed, [MSR, ACTIONS], shares=AUGMENTED),
    "augmented, whole": partial(_passes, AUGMENTED_SETS, whole=True),
    "augmented, passes": partial(_passes, AUGMENTED_SETS),
    "beyond": partial(_streamed, BEYOND, shares=(2, 1, 1, 2, 3, 1), shown=(1, 5)),
    "beyond, wider": _wider,
    "beyond, longer": partial(
        _wider, length=lambda scale: max(scale.whole_steps, 2 * scale.steps), seeing=True
    ),
}
