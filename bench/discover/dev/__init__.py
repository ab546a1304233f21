"""Kinds of planted skews that may be looked at while `discover` is improved."""
