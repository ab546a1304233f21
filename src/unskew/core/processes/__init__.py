"""Processes of unskew: a crew of workers, the side of the workers, and Ctrl-C."""
