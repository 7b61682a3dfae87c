"""What stands where in a flight record: 64-bit integers, in the byte order of the machine."""

from __future__ import annotations

MAGIC = 0x314C4C4154534E55  # "UNSTALL1"
SIZE = 4096
SLOTS = SIZE // 8

# Each name is the index of a slot.
HEADER, PID, PARENT, ROLE, NUMBER = range(5)

# Written by a training loop.
PHASE, DELIVERED, STEPS, EPOCHS, ENDED = range(8, 13)
LOADING_NS, TRAINING_NS, VALIDATION_NS, CHECKPOINT_NS, SINCE_NS = range(16, 21)

# Written wherever samples are fetched: in a worker, or in the training loop itself.
STAGE, SAMPLE, SAMPLES, BATCHES = range(24, 28)

MAIN, WORKER = 1, 2  # ROLE
STARTING, LOADING, TRAINING, VALIDATION, CHECKPOINT = range(5)  # PHASE
IDLE, FETCHING, COLLATING = range(3)  # STAGE
NO_SAMPLE = -(2**63)  # none, or one that is not a whole number
PHASE_NAMES = ("starting", "loading", "training", "validation", "checkpoint")
STAGE_NAMES = ("idle", "fetching", "collating")
