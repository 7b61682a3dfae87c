"""Graphs of autograd that a training keeps from step to step."""

from __future__ import annotations

from unstall.evidence.timings import Note
from unstall.model.finding import Fact

LONGER = 1.8  # times the first steps


def is_slower(kept: Note) -> bool:
    """The steps take longer and longer: what is kept is part of what backward() goes over."""
    return kept.what == "variable" and kept.factor >= LONGER


def facts(kept: Note) -> list[Fact]:
    """What was seen."""
    held = f"{kept.count} items with a graph" if kept.what == "container" else f"a graph of {kept.count} operations"
    return [
        Fact(f"it holds {held}, {kept.more} more than {kept.steps} batches before", "the training's own objects"),
        Fact(f"the memory of the training's process has grown by {kept.size >> 20} MiB", "/proc/self/statm"),
    ]
