"""Karel examples as text, records, problems and pictures."""
