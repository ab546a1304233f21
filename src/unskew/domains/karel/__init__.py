"""The domain Karel (sections 4 and 5, appendix A): programs for a robot in a grid world."""

from unskew.core.domain import Catalog, Domain, Formats, Views
from unskew.domains.karel import examples, recipes, sources
from unskew.domains.karel import variables as salient
from unskew.domains.karel.formats import draw as drawing
from unskew.domains.karel.formats import problems, records
from unskew.domains.karel.formats import show as showing
from unskew.domains.karel.language.syntax import parse, to_readable, to_tokens
from unskew.domains.karel.running.interpreter import Runs, Status, run
from unskew.domains.karel.world import from_picture, to_picture

__all__ = [
    "DOMAIN",
    "Runs",
    "Status",
    "from_picture",
    "parse",
    "run",
    "to_picture",
    "to_readable",
    "to_tokens",
]

DOMAIN = Domain(
    name="karel",
    doc="programs for a robot in a grid world, with worlds before and after",
    sources={make.__name__: make for make in sources.SOURCES},
    variables={variable.name: variable for variable in salient.VARIABLES},
    show=showing.show,
    check=examples.check,
    key=examples.PROGRAM,
    recheck=examples.recheck,
    main=salient.MAIN,
    formats=Formats(
        read_row=records.read_row,
        read_text=problems.read_text,
        are_examples=records.are_examples,
        write_row=records.write_row,
        others={"records": records.numbered_record},
    ),
    views=Views(trace=showing.trace, draw=drawing.example_svg),
    catalog=Catalog(recipes.TABLES, recipes.RECIPES),
)
