"""Running commands in tests: in this process, or in one of their own."""

import math
import subprocess
import sys
from unittest.mock import patch

import pytest

UNSKEW = [sys.executable, "-m", "unskew"]


def exit_code(*arguments: object) -> int:
    """Run a command in this process and return its exit code: loading PyTorch takes seconds.

    Lines about progress are left out. They come after two seconds, so on a busy machine they would
    be anywhere.
    """
    from unskew.cli import main, progress

    with (
        patch.object(progress, "FIRST_LINE", math.inf),
        patch.object(sys, "argv", ["unskew", *map(str, arguments)]),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    return int(stop.value.code or 0)


def python(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own and return what it printed."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, **options)
