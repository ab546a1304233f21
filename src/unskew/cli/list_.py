"""The command that names the sources, variables and experiments: list."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.options import Json
from unskew.cli.printing import echo, print_json

if TYPE_CHECKING:
    from unskew.core.domain import Domain


def list_(
    name: Annotated[
        str | None, typer.Argument(metavar="[DOMAIN]", help="List only this domain, in full.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the sources with their parameters, the salient variables and the experiments.

    A domain whose sources are those of another library is listed in full only if you name it.
    """
    from unskew.domains import domain_names, load_domain
    from unskew.experiments import EXPERIMENTS

    domains = [load_domain(domain) for domain in (domain_names() if name is None else [name])]
    in_full = [domain for domain in domains if as_json or name is not None or not domain.extra]
    facts = _facts(domains, in_full)
    if name is None:
        facts["experiments"] = list(EXPERIMENTS)
    if as_json:
        print_json(facts)
        return
    _print_sources(domains, facts, in_full)
    _print_rest(facts)


def _facts(domains: Sequence[Domain], in_full: Sequence[Domain]) -> dict[str, Any]:
    """Return what the command lists, as plain data; the sources are those of some domains."""
    from unskew.core.domain import parameters

    def by_name(
        entries: Callable[[Domain], Mapping[str, Any]], some: Sequence[Domain] = domains
    ) -> Iterator[tuple[str, Any]]:
        """Yield the entries of the domains with their full names."""
        for domain in some:
            for name, entry in entries(domain).items():
                yield f"{domain.name}/{name}", entry

    return {
        "sources": {
            name: {
                "doc": _first_line(make),
                "parameters": {
                    p.name: {"default": p.default, "allowed": p.allowed, **asdict(p.range)}
                    for p in parameters(make).values()
                },
            }
            for name, make in by_name(lambda domain: domain.sources, in_full)
        },
        "not_installed": {
            domain.name: f"{domain.doc}; install it with: pip install 'unskew[{domain.extra}]'"
            for domain in domains
            if domain.extra and not domain.sources
        },
        "recipes": {name: r.summary for name, r in by_name(lambda domain: domain.catalog.recipes)},
        "tables": {
            name: _first_line(make) for name, make in by_name(lambda domain: domain.catalog.tables)
        },
        "variables": {name: v.doc for name, v in by_name(lambda domain: domain.variables)},
    }


def _first_line(make: Any) -> str:
    return (make.__doc__ or "").splitlines()[0]


def _print_sources(
    domains: Sequence[Domain], facts: dict[str, Any], in_full: Sequence[Domain]
) -> None:
    _print_line("", "sources (set a parameter with --set name=value)")
    for domain in domains:
        if domain not in in_full:
            if domain.sources:
                _print_line(f"  {domain.name}/…  ", domain.doc)
                _print_line("    ", f"(unskew list {domain.name} shows each with its parameters)")
            continue
        for source in domain.sources:
            name = f"{domain.name}/{source}"
            fact = facts["sources"][name]
            _print_line(f"  {name:<22}  ", fact["doc"])
            for key, parameter in fact["parameters"].items():
                setting = f"{key}={parameter['default']}"
                _print_line(f"    {setting:<20}  ", f"{parameter['allowed']}: {parameter['doc']}")
    for name, how in facts["not_installed"].items():
        _print_line(f"  {name}/…  ", how)


def _print_line(name: str, text: str) -> None:
    """Print a name and its text on one line, or on several lines in a narrow terminal."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if width is None or len(name) + len(text) <= width:
        echo((name + text).rstrip())
        return
    indent = " " * min(len(name), width // 2)
    if len(name) > width // 2:
        echo(name.rstrip())
        name = indent
    wrapper = textwrap.TextWrapper(
        width, initial_indent=name, subsequent_indent=indent, break_on_hyphens=False
    )
    echo(wrapper.fill(text))


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
        echo(f"\n{title}")
        width = 30 if section == "recipes" else 22
        for name in entries:
            doc = entries[name] if isinstance(entries, dict) else ""
            _print_line(f"  {name:<{width}}  ", doc)
