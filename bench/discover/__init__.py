"""How many planted skews `unskew.discover` finds, and how often it finds one where none is."""
