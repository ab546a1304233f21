"""Proposers: for each kind of field, the features that it may be skewed in."""
