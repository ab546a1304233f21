"""Running commands in tests: in this process, or in one of their own."""

import subprocess
import sys
from unittest.mock import patch

import pytest

UNSKEW = [sys.executable, "-m", "unskew"]


def exit_code(*arguments: object) -> int:
    """Run a command in this process and return its exit code: loading PyTorch takes seconds."""
    from unskew.cli import main

    with (
        patch.object(sys, "argv", ["unskew", *map(str, arguments)]),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    return int(stop.value.code or 0)


def python(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own and return what it printed."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, **options)
