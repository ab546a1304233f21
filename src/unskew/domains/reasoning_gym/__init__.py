"""Tasks of the library reasoning-gym as sources, with seeds that are spawned, not added."""

from unskew.core.domain import Domain
from unskew.domains.reasoning_gym import examples
from unskew.domains.reasoning_gym import variables as salient
from unskew.domains.reasoning_gym.library import DOMAIN_NAME
from unskew.domains.reasoning_gym.sources import Tasks

__all__ = ["DOMAIN"]

DOMAIN = Domain(
    name=DOMAIN_NAME,
    doc="questions with answers, a hundred kinds of them: the tasks of the library reasoning-gym",
    sources=Tasks(),
    variables=salient.Variables(),
    show=examples.show,
    check=examples.check,
    read_row=examples.read_row,
    write_row=examples.write_row,
    found=salient.found,
    may_lack=(examples.ANSWER,),
    extra=DOMAIN_NAME,
    key=examples.QUESTION,
)
