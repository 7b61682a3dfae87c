"""Workers read one file through the same handle, and disturb each other.

## What happens
A file, zip or tar archive that is opened before the workers are forked is one handle for all of them, with one
position. While one worker reads, another one moves the position. Then a healthy archive seems damaged: `BadZipFile:
Bad CRC-32`, `zlib.error`, `unpickling stack underflow`. Or nothing is noticed, and the samples are wrong.

## How to recognise it
The code that failed reads through a handle that its parent process has as well (the kernel says that both are the
same open file). The part of the archive that could not be read is without a fault when it is read alone.

## Example
```python
class Images(Dataset):
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)       # in the main process, before the workers start
    def __getitem__(self, i):
        return decode(self.archive.read(self.names[i]))
```

## Use instead
Open it in each worker, at first use:
```python
def __getitem__(self, i):
    if self.archive is None or self.pid != os.getpid():
        self.archive, self.pid = zipfile.ZipFile(self.path), os.getpid()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="handle-shared-across-fork",
    title="Workers read one file through the same handle",
    remedies=(
        Remedy("Open the file in each worker, at first use", "one handle has one position, for all of its users"),
        Remedy("Check samples of earlier runs", "what was read while two workers moved the position may be wrong"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """Reading failed in a worker, through a handle of its parent; and the same data are read well alone."""
    said = ending.failure
    if said is None or not said.shared or said.number is None or not said.in_fetch:
        return
    others = sum(1 for one in ending.beats if one.number is not None and one.pid != said.pid)
    if not others:
        return
    facts = [
        Fact(f"{said.role} reads {said.shared[0]} through a handle of its parent process", "kcmp"),
        Fact(f"{others} other workers may have it, too", "flight records"),
        Fact(said.first_line, "its traceback"),
    ]
    if said.intact:
        facts.insert(1, Fact("what could not be read there is without a fault when it is read alone", said.intact[0]))
    yield cause.finding(
        Confidence.CERTAIN if said.intact else Confidence.POSSIBLE,
        where=said.where or ending.loop(),
        sample=said.sample,
        because=facts,
    )
