"""Loops, searches and calls that never come to an end."""
