"""How unskew starts a process of its own."""

import sys

# -P: no file of the current folder, which may be a stranger's, takes the place of a library.
PYTHON = (sys.executable, "-P")
