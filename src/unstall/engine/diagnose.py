"""From a bundle to a diagnosis."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import msgspec

from unstall.engine.atwork import who_is_at_work
from unstall.engine.collectives import told_by_others
from unstall.engine.links import GraphBuilder
from unstall.engine.progress import is_passing, moves, verdict
from unstall.engine.stalls import find_stalls
from unstall.engine.waits import WaitReader
from unstall.evidence.endings import Ending
from unstall.evidence.found import Found
from unstall.evidence.processes import Processes
from unstall.evidence.stall import Stall
from unstall.evidence.steps import Steps
from unstall.evidence.timings import Timings
from unstall.model.bundle import Bundle
from unstall.model.cause import Cause, Detector
from unstall.model.diagnosis import Diagnosis, Verdict
from unstall.model.evidence import Evidence
from unstall.model.finding import Confidence, Fact, Finding, Grade, Link, Remedy


def diagnose(bundle: Bundle, causes: Iterable[Cause], *, in_motion: bool = False) -> Diagnosis:
    """Run every cause over the evidence of one moment. `in_motion`: it is known to move, no stall is looked for."""
    began = time.perf_counter()
    known = list(causes)
    findings = _from_other_evidence(bundle, known)
    word, summary = Verdict.UNKNOWN, ""
    chain: tuple[Link, ...] = ()
    if in_motion:
        findings = rank(findings)
        word, summary = _of_the_first(known, findings) or Verdict.PROGRESSING, findings[0].title if findings else ""
    elif bundle.get(Processes) is not None:
        reader = WaitReader(bundle)
        builder = GraphBuilder(reader)
        graph = builder.build()
        stalls = [_with_work(builder, one) for one in find_stalls(builder, graph)]
        if not reader.processes.ended:
            stuck = [one for one in stalls if not moves(reader, one) and not is_passing(reader, one)]
            findings += _from_stalls(bundle, known, stuck)
            findings += [told for one in stuck for told in told_by_others(reader, one)]
        findings = rank(findings)
        word, summary = verdict(reader, stalls, findings)
        word = _of_the_first(known, findings) or word
        if word is Verdict.STALLED and not findings and stalls:
            findings = [_unknown(stalls[0])]
        chain = stalls[0].chain if stalls else ()
    elif (ending := bundle.get(Ending)) is not None:
        findings = rank(findings)
        word = Verdict.CRASHED if ending.failed else Verdict.FINISHED
        summary = findings[0].title if findings else _end_of(ending)
    elif (timings := bundle.get(Timings)) is not None:
        findings = rank(findings)
        word = _of_the_first(known, findings) or Verdict.PROGRESSING
        summary = findings[0].title if findings else _of_times(timings)
    elif findings:
        findings = rank(findings)
        word, summary = Verdict.NOT_LEARNING, findings[0].title
    elif (steps := bundle.get(Steps)) is not None and steps.all:
        word, summary = Verdict.PROGRESSING, f"none of {len(steps.all)} training steps shows a fault that is known"
    return Diagnosis(
        target=bundle.target,
        verdict=word,
        summary=summary,
        findings=tuple(findings),
        chain=chain,
        unexamined=bundle.unexamined,
        took_s=round(bundle.took_s + time.perf_counter() - began, 3),
    )


def _of_the_first(causes: list[Cause], findings: list[Finding]) -> Verdict | None:
    """What the surest finding makes of a training. What is only possible makes it slow at most."""
    first = next(iter(findings), None)
    verdict = next((one.verdict for one in causes if first and one.slug == first.cause), None)
    sure = first is not None and first.confidence is not Confidence.POSSIBLE
    return verdict if sure or verdict is Verdict.SLOW else None


def _of_times(timings: Timings) -> str:
    times = timings.total
    return f"{times.delivered} batches were delivered; waiting for them took {times.waiting:.0%} of the time"


def _end_of(ending: Ending) -> str:
    if ending.signal:
        return f"the training was ended by signal {ending.signal}"
    return f"the training ended with exit code {ending.exit_code}" if ending.exit_code else "the training has ended"


def _from_other_evidence(bundle: Bundle, causes: list[Cause]) -> list[Finding]:
    """Findings of the detectors that do not need a stall. One that asks for what the others found stands before."""
    asked = [one for cause in causes for one in cause.detectors if Stall not in one.needs]
    roots = [one for detector in asked if Found not in detector.needs for one in _call(detector, bundle, None)]
    seen = Found(tuple(roots))
    return [one for detector in asked if Found in detector.needs for one in _call(detector, bundle, None, seen)] + roots


def _from_stalls(bundle: Bundle, causes: list[Cause], stalls: list[Stall]) -> list[Finding]:
    """The findings of each stall. A cause that asks for what the others have found stands before those."""
    found: list[Finding] = []
    for stall in stalls:
        asked = [one for cause in causes for one in cause.detectors if Stall in one.needs]
        roots = [
            _complete(one, stall)
            for detector in asked
            if Found not in detector.needs
            for one in _call(detector, bundle, stall)
        ]
        seen = Found(tuple(roots))
        found += [
            _complete(one, stall)
            for detector in asked
            if Found in detector.needs
            for one in _call(detector, bundle, stall, seen)
        ]
        found += roots
    return found


def _with_work(builder: GraphBuilder, stall: Stall) -> Stall:
    awaited = who_is_at_work(builder, stall)
    return msgspec.structs.replace(stall, awaited=awaited) if awaited else stall


def _call(detector: Detector, bundle: Bundle, stall: Stall | None, seen: Found | None = None) -> Iterator[Finding]:
    """Call a detector with the evidence that it names; not at all where some is missing."""
    arguments: list[Evidence | None] = []
    for kind in detector.needs:
        found = stall if kind is Stall else seen if kind is Found else bundle.get(kind)
        if found is None and kind not in detector.optional:
            return
        arguments.append(found)
    yield from detector.function(*arguments)


def _complete(finding: Finding, stall: Stall) -> Finding:
    """What the stall knows and the detector did not say: the chain, the sample, the place.

    Nothing is certain where the chain has a step that could only be supposed, and nothing more than possible where
    somebody is at work who will end it.
    """
    confidence = finding.confidence
    if confidence is Confidence.CERTAIN and any(link.grade is Grade.UNKNOWN for link in stall.chain):
        confidence = Confidence.LIKELY
    if stall.awaited:
        confidence = Confidence.POSSIBLE
    return msgspec.structs.replace(
        finding,
        confidence=confidence,
        chain=finding.chain or stall.chain,
        sample=finding.sample if finding.sample is not None else stall.sample,
        where=finding.where or stall.where(),
    )


def rank(findings: Iterable[Finding]) -> list[Finding]:
    """Surest first; one finding per cause and place."""
    best: dict[tuple[str, object], Finding] = {}
    for one in findings:
        key = (one.cause, one.where[:1])
        if key not in best or one.confidence.rank > best[key].confidence.rank:
            best[key] = one
    return sorted(best.values(), key=lambda one: -one.confidence.rank)


def _unknown(stall: Stall) -> Finding:
    """A stall that no cause knows still has its chain."""
    facts = [Fact(f"{stall.role} waits for {stall.wait.text}", stall.wait.source)]
    if stall.thread is not None and stall.thread.still:
        facts.append(Fact("it did not run at all while it was watched", "context switches in /proc"))
    return Finding(
        cause="unknown-wait",
        title=f"{stall.role} waits for {stall.wait.text}, and nothing that was seen will end it",
        confidence=Confidence.POSSIBLE,
        where=stall.where(),
        sample=stall.sample,
        chain=stall.chain,
        because=tuple(facts),
        remedies=(
            Remedy(
                "Look at the last line of the chain: what should end this wait?",
                "unstall knows no cause of this kind; the chain is what it saw",
            ),
            Remedy("Save the evidence and report it", snippet="unstall why PID --save stall.json"),
        ),
    )
