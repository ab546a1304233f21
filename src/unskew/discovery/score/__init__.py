"""Scores of proposals: pure functions of the values in the rows of a sample."""
