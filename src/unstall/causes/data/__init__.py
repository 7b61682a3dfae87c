"""Samples and batches that can't be made."""
