"""What keeps a training, or a worker, from ending."""
