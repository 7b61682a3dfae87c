"""Diagnoses to render."""

from __future__ import annotations

from unstall.model.diagnosis import Diagnosis, Target, Unexamined, Verdict
from unstall.model.finding import Confidence, Fact, Finding, Grade, Link, Location, Remedy

LOADER = "DataLoader iterator"
WORKER = "worker 1 (pid 812) at data.py:30, at sample 20"

CHAIN = (
    Link("main (pid 700) at train.py:40", "batch 5", Grade.EXACT, LOADER),
    Link("batch 5", f"owed by {WORKER}", Grade.EXACT, LOADER),
    Link(WORKER, "the shared lock `self.lock`", Grade.EXACT, "system call futex"),
    Link("the shared lock `self.lock`", f"held by {WORKER}", Grade.EXACT, "SemLock.count"),
)

SELF_DEADLOCK = Finding(
    cause="lock-self-deadlock",
    title="worker 1 waits for the shared lock `self.lock`, which it holds itself",
    confidence=Confidence.CERTAIN,
    where=(
        Location("/home/ann/data.py", 30, "Records.__getitem__", 812, "worker 1"),
        Location("/home/ann/base.py", 7, "fetch", 812, "worker 1"),
    ),
    sample=20,
    chain=CHAIN,
    because=(
        Fact("the lock is held by the very thread that waits for it", "SemLock.count"),
        Fact("it was taken in Records.__getitem__ (/home/ann/data.py:28)", "its Python stack"),
    ),
    remedies=(
        Remedy("Use an RLock", "its holder may take it again", "self.lock = multiprocessing.RLock()"),
        Remedy("Or take the lock in one place only"),
    ),
)

STALLED = Diagnosis(
    target=Target(700, "python train.py"),
    verdict=Verdict.STALLED,
    summary=SELF_DEADLOCK.title,
    findings=(SELF_DEADLOCK,),
    chain=CHAIN,
    unexamined=(Unexamined("process 99", "it belongs to another user", "run as root"),),
    took_s=1.9,
)

SLOW = Diagnosis(
    target=Target(700, "python train.py"),
    verdict=Verdict.SLOW,
    summary="worker 1 is computing: slow, but not stuck",
    chain=CHAIN[:2],
    took_s=1.8,
)

HOSTILE = "[bold]evil[/bold] \x1b]0;title\x07\x1b[31m red\r\nover\u202ewritten \udc80 :smile:"


def hostile() -> Diagnosis:
    """A diagnosis in which every text tries to command the terminal."""
    links = tuple(Link(HOSTILE, HOSTILE, Grade.UNKNOWN, HOSTILE) for _ in range(40))
    finding = Finding(
        cause=HOSTILE,
        title=HOSTILE,
        confidence=Confidence.POSSIBLE,
        where=tuple(Location(HOSTILE + "/x" * 5000, 1, HOSTILE, 1, HOSTILE) for _ in range(40)),
        sample=HOSTILE,
        chain=links,
        because=tuple(Fact(HOSTILE * 2000, HOSTILE) for _ in range(40)),
        remedies=tuple(Remedy(HOSTILE, HOSTILE, "\n".join([HOSTILE] * 40)) for _ in range(40)),
    )
    return Diagnosis(
        target=Target(1, HOSTILE),
        verdict=Verdict.STALLED,
        summary=HOSTILE * 2000,
        findings=(finding,) * 40,
        chain=links,
        unexamined=tuple(Unexamined(HOSTILE, HOSTILE, HOSTILE) for _ in range(40)),
    )
