"""Queues, pipes and results between processes."""
