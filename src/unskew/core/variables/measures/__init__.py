"""Measures: numbers and short texts of a value that is itself too large to count."""
