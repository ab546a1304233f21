"""Reads and writes Karel examples: text, records, problems and pictures."""
