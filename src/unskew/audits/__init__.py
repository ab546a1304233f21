"""How skewed data is, and how that is shown."""
