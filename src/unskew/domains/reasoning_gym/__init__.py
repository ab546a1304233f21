"""The domain reasoning-gym: the tasks of this library as sources."""

from unskew.core.domain import Domain, Formats
from unskew.domains.reasoning_gym import examples
from unskew.domains.reasoning_gym import variables as salient
from unskew.domains.reasoning_gym.library import DOMAIN_NAME
from unskew.domains.reasoning_gym.sources import TaskSources

__all__ = ["DOMAIN"]

DOMAIN = Domain(
    name=DOMAIN_NAME,
    doc="questions with answers, a hundred kinds of them: the tasks of the library reasoning-gym",
    sources=TaskSources(),
    variables=salient.Variables(),
    show=examples.show,
    check=examples.check,
    score=examples.score,
    key=examples.QUESTION,
    find_variables=salient.find_variables,
    formats=Formats(
        read_row=examples.read_row, may_lack=(examples.ANSWER,), write_row=examples.write_row
    ),
    extra=DOMAIN_NAME,
)
