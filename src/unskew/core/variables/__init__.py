"""Salient variables: what they are, how they are made and combined, and what they return."""
