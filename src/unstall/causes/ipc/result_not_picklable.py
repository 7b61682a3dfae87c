"""A worker made its batch, and the batch was lost because it can't be pickled.

## What happens
What a worker returns travels to the main process as a pickle. A lambda, a generator, an open file or a lock in a
sample can't be pickled. The error appears in a helper thread of the worker, which prints a traceback and drops the
batch. The worker goes on as if it had delivered, and the main process waits for that batch for ever.

## How to recognise it
The loader's books say that a worker owes the next batch, and that worker is idle: it waits for new work, its sending
thread has nothing to send, and nothing is on the way. A result that is owed by nobody was lost. Look for `Traceback
… in _feed … cannot pickle` further up in the output.

## Example
```python
def __getitem__(self, i):
    return {"x": self.x[i], "decode": lambda t: self.vocab[t]}     # the lambda can't be pickled
```

## Use instead
Return tensors, numbers, strings, and dicts or tuples of them. Try one sample: `pickle.dumps(dataset[0])`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code, Function
from unstall.evidence.crash_signs import is_out_of_files, is_out_of_shm
from unstall.evidence.endings import Ending
from unstall.evidence.stacks import Frame, Stack, Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.evidence.unpicklable import result_lines, unpicklable_lines
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="result-not-picklable",
    title="A finished batch was lost on its way: it could not be pickled",
    remedies=(
        Remedy(
            "Return only tensors, numbers, strings, and containers of them", "a worker's result travels as a pickle"
        ),
        Remedy("Find the culprit", "try one sample in the main process", "import pickle; pickle.dumps(dataset[0])"),
        Remedy("Look further up in the output", "the worker printed a traceback that ends in `cannot pickle …`"),
    ),
)


@cause.detector
def from_waits(stall: Stall, stacks: Stacks, code: Code, ending: Ending | None) -> Iterator[Finding]:
    """The worker that owes the next batch has nothing to do."""
    loader = next((wait.loader for wait in stall.passed if wait.loader is not None), None)
    if stall.wait.kind is not Kind.INDEX or loader is None or loader.unpacking or loader.owner != stall.process.pid:
        return
    if stall.thread is None or stall.process.dead:
        return
    feeders = [one for one in stacks.of(stall.process.pid) if one.find("multiprocessing/queues.py", "_feed")]
    if any(not _has_nothing_to_send(one) for one in feeders):
        return
    places = tuple(_places(stall, code))
    said = ending.lost_on_the_way(stall.process.pid) if ending is not None else None
    if said is not None and (is_out_of_shm(said) or is_out_of_files(said)):
        return  # not what was sent is at fault
    facts = (Fact(said.first_line, "what the worker said while it sent the batch"),) if said is not None else ()
    yield cause.finding(
        Confidence.CERTAIN if said is not None else Confidence.LIKELY,
        title=f"batch {loader.next_batch} was made by {stall.role}, and lost on its way to the main process",
        where=places,
        because=(
            Fact(f"{stall.role} owes batch {loader.next_batch} to the main process", loader.source),
            stall.fact(f"{stall.role} is idle: it waits for new work"),
            Fact("its sending thread has nothing left to send", "the worker's stacks"),
            *facts,
        ),
    )


def _places(stall: Stall, code: Code) -> Iterator[Location]:
    """Where the batch is made: first the lines that put in what can't be pickled, then the results' lines."""
    makers = stall.worker.makers if stall.worker else ()
    functions = [(maker, function) for maker in makers for function in _with_called(maker, code)]
    for lines_of in (unpicklable_lines, result_lines):
        for maker, function in functions:
            for line in lines_of(function.tree):
                yield Location(maker.file, line, function.name, stall.process.pid, stall.role)


def _with_called(maker: Frame, code: Code) -> list[Function]:
    """The function itself, and those of its file that it calls."""
    own = code.of(maker)
    if own is None:
        return []
    called = {syntax.called_name(one) for one in syntax.calls(syntax.body_of(own.tree))}
    return [own, *(one for one in code.all if one.file == maker.file and one.name in called and one is not own)]


def _has_nothing_to_send(feeder: Stack) -> bool:
    return bool(feeder.frames) and feeder.frames[0].calls("threading.py", "wait")
