"""The terminal and the machine around the training."""
