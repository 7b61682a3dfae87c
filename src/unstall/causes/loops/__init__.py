"""Loops that never end."""
