"""Slow, plain reference implementations that the tests compare the package against."""
