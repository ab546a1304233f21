"""One 64-bit hash for a value, however the value is held: as a Python object or in Arrow."""
