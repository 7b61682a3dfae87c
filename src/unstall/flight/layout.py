"""What stands where in a flight record: 64-bit integers, in the byte order of the machine."""

from __future__ import annotations

MAGIC = 0x314C4C4154534E55  # "UNSTALL1"
SIZE = 4096
SLOTS = SIZE // 8

# Each name is the index of a slot.
HEADER, PID, PARENT, ROLE, NUMBER = range(5)
RANK, WORLD = range(5, 7)  # the rank's number plus one; 0 where it is none

# Written by a training loop.
PHASE, DELIVERED, STEPS, EPOCHS, ENDED = range(8, 13)
LOADING_NS, TRAINING_NS, VALIDATION_NS, CHECKPOINT_NS, SINCE_NS = range(16, 21)

# Written wherever samples are fetched: in a worker, or in the training loop itself.
STAGE, SAMPLE, SAMPLES, BATCHES, FETCHING_NS, FETCHING_CPU_NS = range(24, 30)

# Written by a training loop about its iterators over loaders. IN_EPOCH and EXPECTED are of the one asked last.
ITERATORS, STARTUP_NS, FIRST_WAIT_NS, WORKERS, IN_EPOCH, EXPECTED = range(32, 38)
EMPTY_EPOCHS, ASKED_AFTER_END = range(38, 40)

MAIN, WORKER = 1, 2  # ROLE
STARTING, LOADING, TRAINING, VALIDATION, CHECKPOINT = range(5)  # PHASE
IDLE, FETCHING, COLLATING = range(3)  # STAGE
NO_SAMPLE = -(2**63)  # none, or one that is not a whole number
NO_LENGTH = -1  # EXPECTED where the loader has no length
PHASE_NAMES = ("starting", "loading", "training", "validation", "checkpoint")
STAGE_NAMES = ("idle", "fetching", "collating")
