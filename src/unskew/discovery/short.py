"""Names as tables and sentences show them: the full name is in the command and in JSON."""

from __future__ import annotations

from unskew.audits.report.words import shown
from unskew.core.errors import UnskewError
from unskew.core.variables.measures.names import CHANGES, is_call, parse_name

LONGEST = 80  # characters
_EDGES = 3  # of a name in bins; of more, the first and the last one are shown


def short_name(name: str) -> str:
    """Return a name as a person reads it: of many edges of bins, the first and the last one."""
    if is_call(name) and name.partition("(")[0] in CHANGES:
        try:
            edges = name[: name.rindex(")")].rsplit(", ", len(parse_name(name).numbers))[1:]
        except (UnskewError, ValueError):
            edges = []
        if len(edges) > _EDGES:
            return shown(name.replace(", ".join(edges), f"{edges[0]}, …, {edges[-1]}"), LONGEST)
    return shown(name, LONGEST)
