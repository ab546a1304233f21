"""The scales: ``smoke`` takes a minute on a CPU, ``small`` an hour, ``full`` hours on a GPU."""

from dataclasses import dataclass

from unskew.core.errors import unknown
from unskew.domains.karel.recipes import NARROW, ORIGINAL_ROWS
from unskew.models.karel.network.synthesizer import SynthesizerConfig


@dataclass(frozen=True)
class Scale:
    """The sizes that every experiment shares."""

    model: SynthesizerConfig
    batch: int
    rate: float  # the learning rate
    steps: int  # of most models
    short: int  # steps of the models named "passes", and of those that compare sizes of sets
    whole_steps: int  # of the models named "whole"
    narrow_steps: int  # of the models of narrow worlds, which take four times as many quarter steps
    seeds: int  # of the models in the headline
    reuse: int  # how often an example of a stream is used
    passed: int  # examples in the training set of a model named "passes"
    whole: int  # examples in the training set of a model named "whole"
    narrowed: int  # examples in a training set of narrow worlds
    sizes: tuple[int, ...]  # examples in the training sets that are compared at equal compute
    tests: int | None  # rows of each test set; None takes all
    beam: int
    wide_beam: int  # the beam on the original and the uniform test set
    narrow: tuple[tuple[float, float], ...] = NARROW  # r_wall, r_marker
    counts: str = "GUA"
    pilot: int | None = None  # examples that decide what a homogenized stream keeps


SCALES = {
    "smoke": Scale(
        SynthesizerConfig(channels=8, blocks=1, pair=16, token=16, hidden=32, layers=1),
        batch=32, rate=1e-2, steps=32, short=8, whole_steps=8, narrow_steps=4, seeds=1, reuse=1,
        passed=64, whole=128, narrowed=64, sizes=(64,), tests=48, beam=2,
        wide_beam=4, narrow=NARROW[:1], counts="GA", pilot=4_096,
    ),
    "small": Scale(
        SynthesizerConfig(channels=8, blocks=1, pair=64, token=32, hidden=64, layers=1),
        batch=64, rate=5e-3, steps=1_000, short=500, whole_steps=500, narrow_steps=500, seeds=1,
        reuse=1, passed=1_024, whole=4_096, narrowed=4_096, sizes=(1_024, 8_192), tests=200,
        beam=4, wide_beam=8, narrow=NARROW[::3], counts="GA",
    ),
    "full": Scale(
        SynthesizerConfig(), batch=2_048, rate=1.4e-3, steps=12_800, short=6_400,
        whole_steps=27_267, narrow_steps=3_200, seeds=3, reuse=2, passed=131_072,
        whole=ORIGINAL_ROWS["train"], narrowed=524_288, sizes=(32_768, 131_072, 524_288),
        tests=None, beam=8, wide_beam=64,
    ),
}  # fmt: skip


def find_scale(name: str) -> Scale:
    """Return the scale with this name."""
    if name not in SCALES:
        raise unknown("scale", name, SCALES)
    return SCALES[name]
