"""Choosing rows of data that exists, so that a variable is closer to uniform."""
