"""The options of each model on the command line: annotated fields of a dataclass."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from unskew.core.errors import UnskewError


@dataclass(frozen=True)
class Help:
    """The help of an option, and how the command line spells the option.

    A field that is annotated with a ``Help`` becomes an option of its model. The other fields are
    options that every model has.
    """

    text: str
    default: str = ""  # in words, if the field's default does not say enough
    name: str = ""  # if the option has another name than the field
    metavar: str = ""

    def option(self, field: str) -> str:
        """Return the option as one types it."""
        return f"--{self.name or field.replace('_', '-')}"


@dataclass(frozen=True, kw_only=True)
class TrainCalculatorOptions:
    """What ``unskew train`` takes for the Calculator's model."""

    datasets: Sequence[str]
    output: Path
    steps: int = 2000
    batch: int = 128
    rate: float = 2e-3
    seed: int = 0
    hidden: Annotated[int, Help("Size of the LSTM's state.")] = 128
    seeds: Annotated[int, Help("Models to train side by side, one for each seed.")] = 1
    max_length: Annotated[int, Help("Longest expression, in characters.")] = 64


@dataclass(frozen=True, kw_only=True)
class TrainKarelOptions:
    """What ``unskew train`` takes for Karel's model."""

    datasets: Sequence[str]
    output: Path
    steps: int | None = None
    batch: int = 2048
    rate: float = 1e-3
    seed: int = 0
    minutes: Annotated[float | None, Help("Length of the training in minutes.")] = None
    shown: Annotated[str, Help("Pairs to show: 5, or 1-5 to vary it.")] = "5"
    pair: Annotated[int, Help("Size of a pair's embedding.")] = 512
    differences: Annotated[bool, Help("First weights that see differences.")] = False
    reuse: Annotated[int | None, Help("Uses of each example of a stream.", default="1")] = None
    workers: Annotated[
        int | None, Help("Processes that make a stream, or 0.", default="all cores but one")
    ] = None
    exclude: Annotated[
        tuple[str, ...],
        Help(
            "Leave out the programs of this dataset. Repeatable.",
            default="the test sets",
            metavar="DATASET",
        ),
    ] = ()
    exclude_nothing: Annotated[bool, Help("Also train on test programs.")] = False
    check: Annotated[str, Help("Check the run with this dataset.", metavar="DATASET")] = (
        "karel/msr-val"
    )
    settings: Annotated[
        tuple[str, ...],
        Help("Parameter of the source. Repeatable.", name="set", metavar="NAME=VALUE"),
    ] = ()
    homogenize: Annotated[
        tuple[str, ...],
        Help("Homogenize by this variable. Repeat it for several jointly.", metavar="VARIABLE"),
    ] = ()
    shares: Annotated[
        tuple[int, ...],
        Help("Parts of a batch for each stream. Repeat it in order.", name="share", metavar="N"),
    ] = ()
    trust: Annotated[
        bool,
        Help(
            "Run the code and open the files that a recipe names. Use it only "
            "if you trust its author."
        ),
    ] = False

    @property
    def excluded(self) -> tuple[str, ...]:
        """Names of the datasets whose programs are left out of the training."""
        from unskew.models.karel.data.examples import TEST_SETS

        if self.exclude and self.exclude_nothing:
            raise UnskewError("--exclude and --exclude-nothing contradict each other; give one")
        return () if self.exclude_nothing else self.exclude or TEST_SETS


@dataclass(frozen=True, kw_only=True)
class EvaluateKarelOptions:
    """What ``unskew evaluate`` takes for Karel's model."""

    also: Annotated[tuple[Path, ...], Help("Also score this run. Repeatable.", metavar="RUN")] = ()
    beam: Annotated[int, Help("Number of candidates, from 1 to 64.")] = 8
    shown: Annotated[
        int | None,
        Help("Pairs of worlds to show.", default="5, or all pairs of an example that has fewer"),
    ] = None
    by: Annotated[
        tuple[str, ...],
        Help(
            "Also show the share that generalizes for each value of a variable: a variable of the "
            "domain, a column, or my_module:my_function. Repeatable.",
            metavar="VARIABLE",
        ),
    ] = ()
    heatmap: Annotated[
        Path | None, Help("Draw runs × datasets to this .png or .svg file.", metavar="FILE")
    ] = None
