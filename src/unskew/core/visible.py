"""Text that comes from data, made safe to print.

A terminal obeys control characters: they move the cursor, change colours, set the title, or write
to the clipboard. Bidirectional controls show a text in another order than it is read in. Data may
hold all of them, so whatever is printed goes through ``visible`` or ``visible_json``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

# C0 but for tab and newline, DEL, C1, line separators, bidirectional controls, interlinear and
# other invisible marks, lone surrogates, tags. Joiners stay: letters of some scripts need them.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return a text with its control characters written out: ``\x1b``, ``\u202e``."""
    return _CONTROLS.sub(_python_escape, text)


def visible_json(text: str) -> str:
    r"""Return JSON with its control characters as JSON writes them: ``\u001b``, ``\u202e``."""
    return _CONTROLS.sub(_json_escape, text)


@dataclass(frozen=True)
class Visible:
    """A drawing of rich whose texts have their control characters written out."""

    drawing: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it, and keep the codes that rich itself sends to the terminal."""
        from rich.segment import Segment

        for text, style, control in console.render(self.drawing, options):
            yield Segment(text if control else visible(text), style, control)


def _python_escape(control: re.Match[str]) -> str:
    number = ord(control[0])
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _json_escape(control: re.Match[str]) -> str:
    number = ord(control[0])
    if number < 0x10000:
        return f"\\u{number:04x}"
    high, low = divmod(number - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
