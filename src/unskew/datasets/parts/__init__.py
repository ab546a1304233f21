"""The parts of a dataset: which examples are in a part, and how it is written."""
