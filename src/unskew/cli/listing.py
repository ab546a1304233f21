"""The command that says what there is: list."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.data import Json, print_json
from unskew.errors import unknown

if TYPE_CHECKING:
    from unskew.domain import Domain

MANY = 20  # sources of a domain whose parameters are listed only when the domain is named


def list_(
    name: Annotated[
        str | None, typer.Argument(metavar="[DOMAIN]", help="Only this domain, in full.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the sources with their parameters, the salient variables and the experiments."""
    from unskew.domains import domain_names, load_domain
    from unskew.experiments import EXPERIMENTS

    if name is not None and name not in domain_names():
        raise unknown("domain", name, domain_names())
    domains = [load_domain(known) for known in domain_names() if name in (None, known)]
    facts = _facts(domains)
    if name is None:
        facts["experiments"] = list(EXPERIMENTS)
    if as_json:
        print_json(facts)
        return
    _print_sources(domains, facts, in_full=name is not None)
    _print_rest(facts)


def _facts(domains: Sequence[Domain]) -> dict[str, Any]:
    """Return all of it as plain data."""
    from unskew.domain import parameters

    return {
        "sources": {
            f"{domain.name}/{name}": {
                "doc": _first_line(make),
                "parameters": {
                    p.name: {"default": p.default, "allowed": p.allowed, **asdict(p.range)}
                    for p in parameters(make).values()
                },
            }
            for domain in domains
            for name, make in domain.sources.items()
        },
        "not_installed": {
            domain.name: f"{domain.doc}; to have them: pip install 'unskew[{domain.extra}]'"
            for domain in domains
            if domain.extra and not domain.sources
        },
        "recipes": {
            f"{domain.name}/{name}": recipe.summary
            for domain in domains
            for name, recipe in domain.recipes.items()
        },
        "tables": {
            f"{domain.name}/{name}": _first_line(make)
            for domain in domains
            for name, make in domain.tables.items()
        },
        "variables": {
            f"{domain.name}/{name}": variable.doc
            for domain in domains
            for name, variable in domain.variables.items()
        },
    }


def _first_line(make: Any) -> str:
    return (make.__doc__ or "").splitlines()[0]


def _print_sources(domains: Sequence[Domain], facts: dict[str, Any], in_full: bool) -> None:
    typer.echo("sources (set a parameter with --set name=value)")
    for domain in domains:
        if len(domain.sources) > MANY and not in_full:
            typer.echo(f"  {domain.name}/…  {domain.doc}")
            typer.echo(f"    (unskew list {domain.name}: what each is, and its parameters)")
            names = ", ".join(domain.sources)
            typer.echo(textwrap.fill(names, 100, initial_indent="    ", subsequent_indent="    "))
            continue
        for source in domain.sources:
            _print_source(f"{domain.name}/{source}", facts["sources"][f"{domain.name}/{source}"])
    for name, how in facts["not_installed"].items():
        typer.echo(f"  {name}/…  {how}")


def _print_source(name: str, fact: dict[str, Any]) -> None:
    typer.echo(f"  {name:<22}  {fact['doc']}")
    for key, parameter in fact["parameters"].items():
        setting = f"{key}={parameter['default']}"
        typer.echo(f"    {setting:<20}  {parameter['allowed']}: {parameter['doc']}")


def _print_rest(facts: dict[str, Any]) -> None:
    sections = {
        "recipes": "recipes (unskew generate NAME -o FOLDER)",
        "tables": "tables (unskew show NAME)",
        "variables": "variables",
        "experiments": "experiments (unskew reproduce NAME)",
    }
    for section, title in sections.items():
        entries = facts.get(section)
        if not entries:
            continue
        typer.echo(f"\n{title}")
        width = 30 if section == "recipes" else 22
        for name in entries:
            doc = entries[name] if isinstance(entries, dict) else ""
            typer.echo(f"  {name:<{width}}  {doc}".rstrip())
