"""The kernel killed a worker because there was no memory left.

## What happens
The machine, or the container or batch job that the training runs in, ran out of memory. The kernel then kills a
process with SIGKILL, without a word in the training's output. torch reports only `DataLoader worker (pid …) is
killed by signal: Killed`, or a puzzling `ConnectionResetError`.

## How to recognise it
The worker ended by SIGKILL, and meanwhile the kernel's count of out-of-memory kills grew: that of the training's
own memory group (cgroup), or of the machine. `dmesg` names the process.

## Example
```python
def __getitem__(self, i):
    volume = np.load(self.paths[i])                    # one file of many is 40 GB large
    return torch.from_numpy(volume.astype("float64"))  # and this makes it twice as much
```

## Use instead
Use fewer workers or a smaller `prefetch_factor`: each worker holds batches of its own. Read large files in parts
(`np.load(path, mmap_mode="r")`). Don't keep Python lists of samples in the dataset, since every worker comes to own
a copy: use one array. Or give the job more memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.deaths import Death, death_of
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

MEBIBYTE = 1 << 20

cause = Cause(
    slug="worker-oom-killed",
    title="The kernel killed a worker for want of memory",
    remedies=(
        Remedy("Use fewer workers, or a smaller prefetch_factor", "each worker holds batches of its own"),
        Remedy("Look at what the sample at fault needs", "one large file may be enough"),
        Remedy("Give the job more memory", "the limit of the container or batch job counts, not only the machine's"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """A worker ended by SIGKILL that nobody in the training sent, while the kernel killed for want of memory."""
    death = death_of(ending)
    if death is None or death.for_memory is None:
        return
    yield cause.finding(
        death.for_memory,
        title=f"the kernel killed {death.role} for want of memory, and that ended the training",
        where=(*_grew_at(ending, death), *ending.loop()),
        sample=death.sample,
        because=_facts(ending, death),
    )


def _grew_at(ending: Ending, death: Death) -> list[Location]:
    """The user's lines at which its memory grew by much, when that was seen last."""
    places = next((one.places for one in ending.resources.growth if one.pid == death.pid), ())
    mine = {(one.file, one.line): one for one in places if one.user}.values()
    return [Location(one.file, one.line, one.function, death.pid, death.role) for one in reversed(mine)]


def _facts(ending: Ending, death: Death) -> Iterator[Fact]:
    resources = ending.resources
    yield Fact(f"{death.role} (pid {death.pid}) was killed by SIGKILL", "its exit status")
    if death.pid in resources.oom_killed:
        yield Fact(f"the kernel says that it killed process {death.pid}", "/dev/kmsg")
    if resources.group_oom_kills:
        limit = f", which may use {resources.group_limit_bytes // MEBIBYTE} MiB" if resources.group_limit_bytes else ""
        yield Fact(f"the kernel killed {resources.group_oom_kills} in this memory group{limit}", "the group's counts")
    elif death.for_memory is not Confidence.CERTAIN:
        yield Fact(
            f"the kernel killed {ending.oom_kills} on this machine meanwhile, maybe not this one", "/proc/vmstat"
        )
    if death.beat is not None and death.beat.largest_bytes:
        yield Fact(f"it had used {death.beat.largest_bytes // MEBIBYTE} MiB when last seen", "/proc/PID/status")
    yield from death.facts()
