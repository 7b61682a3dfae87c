"""What a forked worker inherits and can't use."""
