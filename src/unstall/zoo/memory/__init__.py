"""Programs that run out of memory, shared memory or descriptors."""
