"""A recipe that has been run: making, checking, splitting and streaming its examples."""
