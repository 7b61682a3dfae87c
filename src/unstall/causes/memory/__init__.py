"""Memory, shared memory and descriptors that run out."""
