"""Lets `python -m unskew` be the command."""

import os
import sys
from pathlib import Path

# Python puts the current folder first where it looks for libraries. The folder may be a
# stranger's, and a file in it must not take the place of one.
here = os.getcwd()
if sys.path[0] == here and not Path(__file__).is_relative_to(here):
    del sys.path[0]

from unskew.cli import main  # noqa: E402

main()
