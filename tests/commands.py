"""Running commands in tests: in this process, or in one of their own."""

import math
import re
import subprocess
import sys
from unittest.mock import patch

import pytest

_PROGRESS = re.compile(
    r"(?!error|warning)\w+ing\b.*: [\d,]+( of [\d,]+)?(, \d+ (s|min) left)?(,|$)"
)
UNSKEW = [sys.executable, "-m", "unskew"]


def exit_code(*arguments: object) -> int:
    """Run a command in this process and return its exit code: loading PyTorch takes seconds.

    Lines about progress and compiling are left out. They come after two seconds, so on a busy
    machine they would be anywhere.
    """
    from unskew.cli import main, progress
    from unskew.core import compiled

    with (
        patch.object(progress, "FIRST_LINE", math.inf),
        patch.object(compiled, "SLOW", math.inf),
        patch.object(sys, "argv", ["unskew", *map(str, arguments)]),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    return int(stop.value.code or 0)


def python(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own and return what it printed."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, **options)


def complaints(stderr: str) -> str:
    """Return what a command in a process of its own said on stderr, besides that it takes long.

    How long it takes says how busy the machine is, and in a new checkout that it compiles.
    """
    from unskew.core.compiled import NOTICE

    lines = stderr.splitlines(keepends=True)
    return "".join(x for x in lines if x.rstrip() != NOTICE and not _PROGRESS.match(x))
