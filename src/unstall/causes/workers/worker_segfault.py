"""A worker crashed in native code.

## What happens
A library that is written in C or C++ (a video decoder, an image reader, a CUDA extension) wrote where it must not,
for one damaged sample, say. The kernel ends the worker at once with SIGSEGV (or SIGBUS, SIGFPE, SIGILL, SIGABRT).
torch prints `Unexpected segmentation fault encountered in worker` at best, and never which sample or line it was.

## How to recognise it
The worker's exit status names the signal. unstall adds the sample that was being fetched, and the line of Python
that had called the native code.

## Example
```python
def __getitem__(self, i):
    return decoder.decode(self.paths[i])     # a damaged film makes the decoder crash
```

## Use instead
Try that sample alone: `python -X faulthandler -c "…; dataset[INDEX]"`. Leave it out, update the library, or read
such files in a process of their own (`subprocess.run`), whose crash harms nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from signal import SIGBUS

from unstall.evidence.crash_signs import is_shm_full
from unstall.evidence.deaths import Death, death_of, signal_name
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="worker-segfault",
    title="A worker crashed in native code, and that ended the training",
    remedies=(
        Remedy("Try that sample alone", "it crashes in the same way, unless memory was damaged before"),
        Remedy("Update the library that the line calls, or leave the sample out", "Python itself does not crash so"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """The worker that torch misses was ended by a signal for a fault of its own code."""
    death = death_of(ending)
    if death is None or not death.is_fault:
        return
    if death.signal == SIGBUS and is_shm_full(ending):
        return
    name = signal_name(death.signal or 0)
    places = tuple(_places(ending, death))
    facts = [Fact(f"{death.role} (pid {death.pid}) was ended by {name}", "its exit status")]
    if places:
        facts.append(Fact(f"Python was at {places[0].file}:{places[0].line} then", "Python's fault handler"))
    if death.sender is not None:
        facts.append(Fact("the worker's own code sent that signal", "audit of os.kill"))
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{death.role} crashed in native code ({name}), and that ended the training",
        where=places or ending.loop(),
        sample=death.sample,
        because=[*facts, *death.facts()],
        remedies=(
            Remedy("Try that sample alone", cause.remedies[0].why, f"dataset[{death.sample}]"),
            cause.remedies[1],
        )
        if death.sample is not None
        else None,
    )


def _places(ending: Ending, death: Death) -> Iterator[Location]:
    """The user's lines when it crashed, innermost first."""
    for fault in ending.faults:
        if fault.pid == death.pid:
            for one in reversed(fault.places):
                if one.user:
                    yield Location(one.file, one.line, one.function, death.pid, death.role)
