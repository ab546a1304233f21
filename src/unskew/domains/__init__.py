"""The built-in domains: each is a package here with a ``DOMAIN`` in it, found by its folder."""

from collections.abc import Collection
from importlib import import_module
from pkgutil import iter_modules

from unskew.core.domain import Domain
from unskew.core.errors import unknown

# A file with all columns of one of these groups may hold examples of the domain. So a domain is
# not imported to find out that a file is not one of its own.
FILE_COLUMNS = {
    "karel": (("program",), ("program_tokens",), ("program_json",)),
    "reasoning-gym": (("question", "answer", "metadata"),),
}


def domains_with_columns(columns: Collection[object]) -> list[str]:
    """Return the names of the domains whose files may have these columns; loads none."""
    return [
        name
        for name, groups in FILE_COLUMNS.items()
        if any(all(column in columns for column in group) for group in groups)
    ]


def domain_names() -> list[str]:
    """Return the names of the built-in domains without loading them: their folders, _ as -."""
    return sorted(
        module.name.replace("_", "-") for module in iter_modules(__path__) if module.ispkg
    )


def load_domain(name: str) -> Domain:
    """Load one domain by name."""
    if name not in domain_names():
        raise unknown("domain", name, domain_names())
    domain: Domain = import_module(f"{__name__}.{name.replace('-', '_')}").DOMAIN
    return domain
