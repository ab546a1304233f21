"""Runs Karel programs, on a CPU or a GPU, and judges their results."""
