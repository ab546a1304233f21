"""Which examples to keep, and what this costs."""
