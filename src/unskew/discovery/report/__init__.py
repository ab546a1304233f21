"""Draws what was found as a page."""
