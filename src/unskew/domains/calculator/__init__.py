"""The Calculator (section 6): expressions over digits with + − *, their value modulo 10."""

from unskew.core.domain import Domain
from unskew.domains.calculator import sources
from unskew.domains.calculator import variables as salient
from unskew.domains.calculator.syntax import evaluate, parse, print_tree, to_text

__all__ = ["DOMAIN", "evaluate", "parse", "print_tree", "to_text"]

DOMAIN = Domain(
    name="calculator",
    doc="arithmetic over digits with + − *, answered modulo 10",
    sources={make.__name__: make for make in sources.SOURCES},
    variables={variable.name: variable for variable in salient.VARIABLES},
    show=sources.show,
    check=sources.check,
    key=sources.EXPRESSION,
    recheck=sources.recheck,
)
