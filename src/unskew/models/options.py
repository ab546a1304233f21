"""How a model declares its own command-line options: as annotated fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Help:
    """What the command line says about an option, and how it spells the option.

    A field that is annotated with a ``Help`` becomes an option. The other fields of the dataclass
    belong to options that every model has.
    """

    text: str
    default: str = ""  # in words, if the default of the field does not say enough
    name: str = ""  # if the option has another name than the field
    metavar: str = ""
