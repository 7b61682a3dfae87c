"""Runs a training program and writes down its optimizer steps: `python -m tests.support.steps PROGRAM BUNDLE`.

Real gradients of a real training, as a bundle of step evidence.
"""

from __future__ import annotations

import math
import runpy
import sys
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook

from unstall.evidence.steps import Step, Steps
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Target

MOST_STEPS = 60


class Recorder:
    """Notes what the optimizer sees at each of its steps."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.names: dict[int, str] = {}
        self.loss = math.nan
        self.place = ("", 0)
        self.bad_inputs: tuple[int, ...] = ()
        self.bad_weights: tuple[str, ...] = ()

    def install(self) -> None:
        """Hook into torch."""
        register_module_forward_pre_hook(self.before_forward)
        register_optimizer_step_pre_hook(self.before_step)
        backward, scaled_step = torch.Tensor.backward, torch.amp.GradScaler.step
        recorder = self

        def noted_backward(tensor: torch.Tensor, *arguments: Any, **options: Any) -> None:
            caller = sys._getframe(1)
            recorder.loss, recorder.place = float(tensor.detach()), (caller.f_code.co_filename, caller.f_lineno)
            backward(tensor, *arguments, **options)

        def noted_scaled_step(scaler: Any, optimizer: torch.optim.Optimizer, *arguments: Any, **options: Any) -> Any:
            before = len(recorder.steps)
            result = scaled_step(scaler, optimizer, *arguments, **options)
            if len(recorder.steps) == before:
                recorder.note(optimizer, skipped=True)
            return result

        torch.Tensor.backward = noted_backward  # type: ignore[method-assign,assignment]
        torch.amp.GradScaler.step = noted_scaled_step  # type: ignore[method-assign]

    def before_forward(self, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        """The first module that is called is the model; it knows its parameters' names."""
        if not self.names:
            self.names = {id(parameter): name for name, parameter in module.named_parameters()}
            self.model = module
        if module is self.model:
            for one in inputs:
                if isinstance(one, torch.Tensor) and one.is_floating_point():
                    good = one.flatten(1).isfinite().all(1) if one.dim() > 1 else one.isfinite()
                    self.bad_inputs = tuple((~good).nonzero().flatten().tolist())

    def before_step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """The optimizer is about to change the weights."""
        self.note(optimizer)

    def note(self, optimizer: torch.optim.Optimizer, *, skipped: bool = False) -> None:
        """Write one step down; end the program when there are enough."""
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        self.steps.append(
            Step(
                number=len(self.steps),
                loss=self.loss if math.isfinite(self.loss) else None,
                loss_text="" if math.isfinite(self.loss) else str(self.loss),
                bad_gradients=tuple(
                    self.names.get(id(one), "?")
                    for one in parameters
                    if one.grad is not None and not one.grad.isfinite().all()
                ),
                bad_weights=tuple(self.names.get(id(one), "?") for one in parameters if not one.isfinite().all()),
                bad_inputs=self.bad_inputs,
                skipped=skipped,
                file=self.place[0],
                line=self.place[1],
            )
        )
        if len(self.steps) >= MOST_STEPS:
            raise SystemExit


def main() -> None:
    """Run the program with a recorder in it."""
    program, out = sys.argv[1:]
    recorder = Recorder()
    recorder.install()
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit:
        pass
    bundle = Bundle(Target(None, f"python {Path(program).name}"), {Steps.kind: Steps(tuple(recorder.steps))})
    Path(out).write_bytes(bundle.encode())


if __name__ == "__main__":
    main()
