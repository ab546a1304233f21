"""How a model declares its own command-line options: as annotated fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass


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
