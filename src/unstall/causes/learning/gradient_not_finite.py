"""A gradient became NaN or infinite while the loss was still an ordinary number.

## What happens
The loss is finite, but its slope is not: `sqrt` at 0, `norm` of a zero vector, a division by a vanishing number, an
`exp` that overflows, `log` at 0 behind a `where` or `clamp`. The next `optimizer.step()` writes NaN into the weights,
and from then on every output is NaN. Nothing stops: the training runs on to its end and has learned nothing.

## How to recognise it
At one step a parameter's gradient is NaN or infinite, while the loss, the inputs and the weights are finite. One step
later the weights are not. A few steps skipped by a gradient scaler are normal: it looks for its scale.

## Example
```python
distance = (a - b).square().sum(1).sqrt()     # a == b: the slope of sqrt at 0 is infinite
distance.mean().backward()                    # infinity times 0: NaN
optimizer.step()                              # and now it is in the weights
```

## Use instead
Keep away from the point without a slope: `(… + 1e-12).sqrt()`, `torch.cdist`, `log_softmax` and other functions made
for it. Put `clamp` before the risky function: behind it, its slope is still computed. Skip a step that is not finite:
`clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.steps import Step, Steps
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

SOURCE = "training steps"
MOST_SKIPPED = 20  # in a row; a gradient scaler that looks for its scale skips a few
MOST_NAMES = 3

cause = Cause(
    slug="gradient-not-finite",
    title="A gradient is NaN or infinite, though the loss is not",
    remedies=(
        Remedy(
            "Let torch name the operation, once",
            "it prints the line of the forward pass whose slope is not finite; it makes every step slower",
            "with torch.autograd.detect_anomaly():\n    loss.backward()",
        ),
        Remedy(
            "Skip such a step before it reaches the weights",
            "weights that are NaN stay NaN",
            "if all(p.grad is None or p.grad.isfinite().all() for p in model.parameters()):\n    optimizer.step()",
        ),
        Remedy("Go back to a checkpoint from before that step", "later ones hold NaN weights"),
    ),
)


@cause.detector
def from_steps(steps: Steps) -> Iterator[Finding]:
    """The first thing that was not finite is a gradient: not the loss, not an input, not a weight."""
    skipped = 0
    for place, step in enumerate(steps.all):
        skipped = skipped + 1 if step.skipped else 0
        if step.skipped and skipped < MOST_SKIPPED:
            continue
        if step.bad_inputs or step.bad_weights or step.loss is None:
            return
        if step.bad_gradients:
            yield _finding(step, skipped, steps.all[place + 1 :])
            return


def _finding(step: Step, skipped: int, later: tuple[Step, ...]) -> Finding:
    names = ", ".join(step.bad_gradients[:MOST_NAMES])
    more = len(step.bad_gradients) - MOST_NAMES
    others = f" and {more} more" if more > 0 else ""
    facts = [
        Fact(f"step {step.number}: the gradient of {names}{others} is not finite", SOURCE),
        Fact(f"the loss of that step was {step.loss:.6g}, its inputs and the weights were finite", SOURCE),
    ]
    if skipped:
        facts.append(Fact(f"a gradient scaler has skipped {skipped} steps in a row", SOURCE))
    poisoned = next((one for one in later if one.bad_weights), None)
    if poisoned is not None:
        facts.append(Fact(f"step {poisoned.number} began with weights that are not finite", SOURCE))
    return cause.finding(
        Confidence.CERTAIN,
        title=f"the gradient of {step.bad_gradients[0]} is NaN or infinite at step {step.number}, though the loss is not",
        where=[Location(step.file, step.line, role="main")] if step.file else (),
        because=facts,
    )
