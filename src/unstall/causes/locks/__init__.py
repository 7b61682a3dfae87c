"""Locks in memory, between threads and processes."""
