"""Loader workers that are there but do not run."""
