"""Training steps: what the optimizer saw."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One optimizer step. `loss` is None where it was not finite (`loss_text` then says what it was)."""

    number: int
    loss: float | None = None
    loss_text: str = ""
    bad_gradients: tuple[str, ...] = ()  # parameters whose gradient was not finite, in model order
    bad_weights: tuple[str, ...] = ()  # parameters that were not finite before this step
    bad_inputs: tuple[int, ...] = ()  # samples of the batch with values that were not finite
    skipped: bool = False  # a gradient scaler skipped it
    file: str = ""
    line: int = 0


class Steps(Evidence, frozen=True):
    """Steps in order."""

    kind: ClassVar[str] = "steps"

    all: tuple[Step, ...] = ()
