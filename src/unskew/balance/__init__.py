"""Which examples to keep, and what that costs."""
