"""The command that compiles everything ahead: warm-up."""

from __future__ import annotations

import time

from unskew.cli.options import Json
from unskew.cli.printing import echo, print_json


def warm_up(as_json: Json = False) -> None:
    """Compile all kernels now, so that no later command waits for it. It takes a minute or two."""
    from unskew.datasets.warm import warm_up as run

    begin = time.monotonic()
    kernels = run(lambda what: echo(f"compiling: {what}", err=True))
    seconds = time.monotonic() - begin
    if as_json:
        print_json({"kernels": kernels, "seconds": seconds})
    elif kernels:
        echo(f"compiled {kernels} kernels in {seconds:.0f} s")
    else:
        echo("everything is compiled already")
