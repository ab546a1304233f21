"""Fuzzing: damaged and hostile inputs for every reader, seeded and bounded; `make fuzz`."""
