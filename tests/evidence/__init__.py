"""Tests of what is derived from evidence."""
