"""Features of messages: turns, roles, and what each role says how long."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unskew.core.variables.measures.names import MEASURES
from unskew.discovery.proposal import Field
from unskew.discovery.propose.make import Made, of_measure, of_measures

MOST_ROLES = 8


def chats(field: Field, _: np.random.Generator) -> Iterator[Made]:
    """Propose turns, roles, who begins and who ends, and the lengths of each role."""
    yield from of_measures(field, ("turns", "roles", "first_role", "last_role", "alternate"))
    yield from of_measures(field, ("words", "characters", "longest_turn"), null="bell")
    views = [view for view in field.views(MEASURES["first_role"]) if view is not None]
    roles = list(dict.fromkeys(role for view in views for role in view.roles if role))
    yield from [f"roles beyond the first {MOST_ROLES}"] * max(0, len(roles) - MOST_ROLES)
    for role in roles[:MOST_ROLES]:
        yield from of_measure(field, "turns_of", role, least=0)
        yield from of_measure(field, "first_word_of", role)
        for name in ("words_of", "characters_of"):
            yield from of_measure(field, name, role, null="bell")
