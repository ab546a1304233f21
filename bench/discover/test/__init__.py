"""Kinds of planted skews for the last measurement.

HELD OUT: nobody who works on `discover` reads or runs these kinds before the end.
"""
