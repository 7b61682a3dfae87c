"""Training that runs and learns nothing."""
