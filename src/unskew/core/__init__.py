"""What everything stands on: examples, sources, variables, recipes, errors."""
