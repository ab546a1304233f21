"""What was found, drawn: tables in a terminal, pictures, and a page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unskew.errors import UnskewError
from unskew.files import write_text, written_whole

if TYPE_CHECKING:
    from unskew.auditing import Audit, Comparison

SUFFIXES = (".png", ".svg", ".html")
SCALE = 2


def write_picture(result: Audit | Comparison, path: str | Path) -> Path:
    """Write a result as .png, .svg or a self-contained .html page; return where."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnskewError(
            f"{path} has the suffix {path.suffix!r}; allowed are {', '.join(SUFFIXES)}: "
            "rename the file"
        )
    if suffix == ".html":
        from unskew.report.page import page

        write_text(path, page(result))
        return path
    picture = _picture(result, suffix)
    with written_whole(path) as beside:
        beside.write_bytes(picture)
    return path


def _picture(result: Audit | Comparison, suffix: str) -> bytes:
    import vl_convert

    from unskew.auditing import Audit
    from unskew.report import words
    from unskew.report.charts import charts, page_of_charts, theme

    if isinstance(result, Audit):
        sides = [("", result)]
    else:
        sides = [("before: ", result.before), ("after: ", result.after)]
    facts = [f"{side}{words.shown(audit.label, 80)}: {words.facts(audit)}" for side, audit in sides]
    spec = page_of_charts(charts(result), title=["unskew", *facts])
    look = theme(dark=False) | {"background": "white"}
    if suffix == ".svg":
        text: str = vl_convert.vegalite_to_svg(spec, config=look)
        return text.encode()
    png: bytes = vl_convert.vegalite_to_png(spec, scale=SCALE, config=look)
    return png
