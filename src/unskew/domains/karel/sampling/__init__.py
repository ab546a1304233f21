"""Draws Karel programs and worlds at random."""
