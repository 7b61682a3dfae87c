"""Programs whose workers inherit something by fork that only works in the parent."""
