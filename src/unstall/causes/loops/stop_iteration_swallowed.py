"""The end of the data is caught and ignored, so the loop asks an ended iterator for ever.

## What happens
`next(batches)` raises StopIteration when the epoch is over. Code that catches it (often with a broad `except Exception:`)
and goes on asks the same iterator again, which raises again. An ended iterator stays ended: the loop turns for ever, at full
speed.

## How to recognise it
One iterator is asked again and again after it has ended.

## Example
```python
batches = iter(loader)
while step < total:
    try:
        batch = next(batches)
    except Exception:
        continue                     # also swallows the end of the epoch
```

## Use instead
```python
    except StopIteration:
        batches = iter(loader)       # a new epoch
        batch = next(batches)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="stop-iteration-swallowed",
    title="The end of the data is caught and ignored: an ended iterator is asked for ever",
    remedies=(
        Remedy("Begin a new epoch at StopIteration", "", "except StopIteration:\n    batches = iter(loader)"),
        Remedy("Catch only the errors that you mean", "a broad `except Exception` catches StopIteration, too"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """The same iterator raises StopIteration again and again, and nothing is delivered."""
    again = timings.note("asked-after-end")
    if again is None or timings.recent.asked_after_end < 10 or timings.recent.delivered:
        return
    times = timings.total
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"an iterator that has ended is asked for the next batch again and again: {times.asked_after_end} times",
        where=[again.where] if again.where else (),
        because=[
            Fact(f"an ended iterator was asked {times.asked_after_end} times more", "flight record"),
            Fact(
                f"{times.delivered} batches were delivered before, none in the last {timings.recent.span_s:.0f} s",
                "flight record",
            ),
        ],
    )
