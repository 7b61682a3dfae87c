"""Locks on files, and files that never open."""
