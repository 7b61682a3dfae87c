"""Programs with samples and batches that can't be made."""
