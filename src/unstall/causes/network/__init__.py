"""Servers that do not answer."""
