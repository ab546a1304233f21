"""The built-in domains: each is a package here with a ``DOMAIN`` in it, found by its folder."""

from importlib import import_module
from pkgutil import iter_modules

from unskew.core.domain import Domain
from unskew.core.errors import unknown


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
