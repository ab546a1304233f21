"""Scores of a feature: how skewed it is, what it gives away, where a model fails, what shifted."""
