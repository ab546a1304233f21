"""Drawing Karel programs and worlds."""
