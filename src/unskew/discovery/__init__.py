"""Finds the variables in which data is skewed, without being told which to look at."""
