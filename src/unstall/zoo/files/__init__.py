"""Programs that wait for a file: its lock, its lockfile, its other end or its disk."""
