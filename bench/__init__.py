"""Benchmarks: printed figures, never timed tests. Compare within one run, as a ratio."""
