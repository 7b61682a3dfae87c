"""Pipes, queues and messages between threads and processes."""
