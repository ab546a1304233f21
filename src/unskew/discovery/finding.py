"""What was found: the features in which data is skewed, each with the command that repairs it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from unskew.core.tally import plain
from unskew.core.variables.variable import SalientVariable
from unskew.discovery.score.ceiling import Ceiling
from unskew.discovery.score.shortcut import Blind

if TYPE_CHECKING:
    from rich.console import RenderableType

# - "skew": some values come more often than they would by chance.
# - "shortcut": the value gives away the answer.
# - "failure": a model fails more often where it has certain values.
# - "shift": another dataset has other values.
# - "slice": a model fails more often where two or three variables have certain values.
# - "joint": values of two or three variables come together more often, or less, than they should.
FindingKind: TypeAlias = Literal["skew", "shortcut", "failure", "shift", "slice", "joint"]


@dataclass(frozen=True)
class Finding:
    """A variable that matters.

    Args:
        name: the name that ``by`` and ``--homogenize`` take; several, joined by ×, of a
            combination.
        kind: why it matters.
        doc: what it says of a row.
        score: how much it matters, from 0 to 1; comparable within a kind.
        p: how probable so large a score is if there is nothing to find.
        sentence: what was found, for a person.
        command: the command, or the line of Python, that repairs it.
        measures: the numbers behind the score, by name.
        counts: how many rows have each value.
        examples: numbers of some rows that have a value, counted from 0.
        synonyms: names of variables that say nearly the same.
        implied: names of variables that follow from this one, or are skewed only as it is.
        variable: the variable itself.
    """

    name: str
    kind: FindingKind
    doc: str
    score: float
    p: float
    sentence: str
    command: str
    measures: Mapping[str, Any]
    counts: Mapping[Hashable, int]
    examples: Mapping[Hashable, tuple[int, ...]]
    synonyms: tuple[str, ...]
    implied: tuple[str, ...]
    variable: SalientVariable = field(compare=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its variables: one, or those that are combined."""
        return tuple(part.name for part in self.variable.parts) or (self.name,)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "name": self.name,
            "names": list(self.names),
            "kind": self.kind,
            "doc": self.doc,
            "score": self.score,
            "p": self.p,
            "sentence": self.sentence,
            "command": self.command,
            **{name: plain(value) for name, value in self.measures.items()},
            "synonyms": list(self.synonyms),
            "implied": list(self.implied),
            "histogram": [[plain(value), count] for value, count in self.counts.items()],
            "examples": [[plain(value), list(rows)] for value, rows in self.examples.items()],
        }


@dataclass(frozen=True, repr=False)
class Discovery:
    """What ``discover`` found. ``print`` and notebooks draw it as a table.

    Args:
        label: the data.
        findings: the variables that matter, those first that matter most; the kinds take turns.
            Combinations of variables come last.
        rows: how many rows were measured.
        read: of how many rows they were drawn; of a source, as many as were measured.
        proposed: how many features were proposed.
        left_out: how many features are not among the findings, by reason.
        blind: the policy that always gives the same answer, if there are answers.
        ceiling: how well all features together tell two datasets apart, if there are two.
        notes: what else to know.
        samples: some of the rows that the examples of the findings name, by their number.
    """

    label: str
    findings: tuple[Finding, ...]
    rows: int
    read: int
    proposed: int
    left_out: Mapping[str, int]
    blind: Blind | None = None
    ceiling: Ceiling | None = None
    notes: tuple[str, ...] = ()
    samples: Mapping[int, Any] = field(default_factory=dict, compare=False)

    @property
    def variables(self) -> list[SalientVariable]:
        """The variables that were found, ready for ``by``; each once."""
        every = [part for f in self.findings for part in (f.variable.parts or (f.variable,))]
        return list({variable.name: variable for variable in every}.values())

    def __iter__(self) -> Iterator[Finding]:
        """Yield the findings."""
        return iter(self.findings)

    def __len__(self) -> int:
        """Return the number of findings."""
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """Return the first finding about the variable of this name, or one that says the same."""
        for finding in self.findings:
            if name == finding.name or name in finding.synonyms:
                return finding
        raise KeyError(name)

    def of_kind(self, kind: FindingKind) -> Sequence[Finding]:
        """Return the findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "label": self.label,
            "rows": self.rows,
            "read": self.read,
            "proposed": self.proposed,
            "left_out": dict(self.left_out),
            "blind": _record(self.blind),
            "ceiling": _record(self.ceiling),
            "notes": list(self.notes),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def picture(self, path: str | Path) -> Path:
        """Write what was found as a self-contained .html page; return its path."""
        from unskew.discovery.report.page import save_page

        return save_page(self, path)

    def open(self) -> Path:
        """Open the page in the browser; return the path of the page, a temporary file."""
        from unskew.audits.report import open_page
        from unskew.discovery.report.page import page

        return open_page(page(self))

    def __repr__(self) -> str:
        """Return one line; ``print`` draws the table."""
        names = ", ".join(finding.name for finding in self.findings)
        return f"<Discovery of {self.label}: {names or 'nothing found'}>"

    def __str__(self) -> str:
        """Return the table as text."""
        from unskew.audits.report.terminal import as_text

        return as_text(self.__rich__())

    def __rich__(self) -> RenderableType:
        """Return the table for a terminal."""
        from unskew.discovery.terminal import drawing

        return drawing(self)

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from unskew.discovery.notebook import notebook

        return notebook(self)


def _record(record: Blind | Ceiling | None) -> dict[str, Any] | None:
    """Return a record of plain values as a dict."""
    return None if record is None else {name: plain(v) for name, v in vars(record).items()}
