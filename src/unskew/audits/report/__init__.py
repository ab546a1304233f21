"""Draws an audit: tables in a terminal, pictures, and a page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.core.errors import UnskewError
from unskew.io.files import check_writable, write_bytes, write_text

if TYPE_CHECKING:
    from unskew.audits.records import Report

PICTURES = (".png", ".svg")
PAGES = (".html",)
SUFFIXES = (*PICTURES, *PAGES)
SCALE = 2


def write_picture(report: Report, path: str | Path) -> Path:
    """Write a report as .png, .svg or a self-contained .html page; return the path."""
    path = Path(path)
    _check_suffix(path, SUFFIXES)
    if path.suffix.lower() == ".html":
        from unskew.audits.report.page import page

        write_text(path, page(report))
        return path
    return write_chart(_side_by_side(report), path)


def open_page(text: str) -> Path:
    """Write a page to a new temporary file, and open it in the browser; return its path."""
    import tempfile
    import webbrowser

    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        errors="backslashreplace",
        prefix="unskew-",
        suffix=".html",
        delete=False,
    ) as file:
        file.write(text)
    if not webbrowser.open(Path(file.name).as_uri()):
        raise UnskewError(f"there is no browser to open; the page is {file.name}")
    return Path(file.name)


def write_chart(spec: dict[str, Any], path: str | Path) -> Path:
    """Draw a Vega-Lite specification as .png or .svg; return the path."""
    import vl_convert

    from unskew.audits.report.charts import theme

    path = Path(path)
    _check_suffix(path, PICTURES)
    look = theme(dark=False) | {"background": "white"}
    if path.suffix.lower() == ".svg":
        picture: bytes = vl_convert.vegalite_to_svg(spec, config=look).encode()
    else:
        picture = vl_convert.vegalite_to_png(spec, scale=SCALE, config=look)
    write_bytes(path, picture)
    return path


def _side_by_side(report: Report) -> dict[str, Any]:
    from unskew.audits.report import words
    from unskew.audits.report.charts import charts, page_of_charts

    facts = [
        f"{words.titled(name)}{words.shown(side.label, 80)}: {words.facts(side)}"
        for name, side in report.sides.items()
    ]
    return page_of_charts(charts(report), title=["unskew", *facts])


def check_picture(path: Path, *, page: bool) -> None:
    """Refuse, before the work begins, a path where no picture can be written."""
    _check_suffix(path, SUFFIXES if page else PICTURES)
    check_writable(path)


def check_page(path: Path) -> None:
    """Refuse, before the work begins, a path where no page can be written."""
    _check_suffix(path, PAGES)
    check_writable(path)


def _check_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    if path.suffix.lower() not in allowed:
        raise UnskewError(
            f"{path} has the suffix {path.suffix!r}; allowed are {', '.join(allowed)}: "
            "rename the file"
        )
