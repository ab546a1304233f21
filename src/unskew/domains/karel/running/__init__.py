"""Running Karel programs, on a CPU or a GPU, and judging what they do."""
