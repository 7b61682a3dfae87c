"""Ranks in the wait graph: from a call of torch.distributed to the ranks that have not come to it."""

from __future__ import annotations

import msgspec

from unstall.engine.waits import WaitReader
from unstall.evidence.ranks import JOINING, LARGEST_WORLD, Call, Rank, names
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.evidence.threads import Thread
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Finding, Grade
from unstall.model.graph import Edge, Node, WaitGraph

BUSY_THREAD = 0.02  # of a core: gloo's threads use a tenth of that while they only wait
_GONE = "no process of this training has that number"


def call_of(reader: WaitReader, rank: Rank, waits: dict[int, Wait]) -> Call | None:
    """The call in which a rank waits for others; of a rank on another machine, what its supervisor saw."""
    if rank.node:
        return rank.call
    wait = waits.get(rank.thread)
    return wait.call if wait is not None and wait.kind is Kind.COLLECTIVE else None


def missing(reader: WaitReader, me: Rank, call: Call, waits: dict[int, Wait]) -> list[int]:
    """The ranks that a rank waits for in this call: they are elsewhere, have ended, or were never seen."""
    found = []
    everybody = tuple(range(min(me.world, LARGEST_WORLD))) if me.world else reader.ranks.everybody
    for number in call.needs(me.number, everybody):
        rank = reader.rank_numbers.get(number)
        if rank is None or rank.ended:
            found.append(number)
            continue
        theirs = call_of(reader, rank, waits)
        apart = call.name == JOINING and (rank.master, rank.world) != (me.master, me.world)
        if theirs is None or apart or not call.meets(theirs, me=me.number, them=number):
            found.append(number)
    return found


def missing_in(reader: WaitReader, wait: Wait, waits: dict[int, Wait]) -> tuple[int, ...]:
    """The same for a wait; nobody where it is another one."""
    rank = reader.ranks.get(wait.pid)
    return tuple(missing(reader, rank, wait.call, waits)) if rank is not None and wait.call is not None else ()


def connect(reader: WaitReader, graph: WaitGraph, thread: Thread, waits: dict[int, Wait]) -> None:
    """A rank waits in a call that others have not come to."""
    rank, wait = reader.ranks.get(thread.pid), waits[thread.tid]
    if rank is not None and wait.call is not None:
        _connect(reader, graph, rank, f"thread:{thread.tid}", wait.call, waits)


def connect_other_nodes(reader: WaitReader, graph: WaitGraph, waits: dict[int, Wait]) -> None:
    """The same for ranks on other machines, as far as their supervisors have told."""
    for rank in reader.ranks.all:
        if rank.node and rank.call is not None:
            _connect(reader, graph, rank, rank_node(reader, graph, rank.number), rank.call, waits)


def _connect(reader: WaitReader, graph: WaitGraph, rank: Rank, me: str, call: Call, waits: dict[int, Wait]) -> None:
    grade = Grade.EXACT if rank.pending or call.name == JOINING else Grade.INFERRED
    source = "its stack, and a thread of gloo that waits for data" if rank.pending else "its stack"
    absent = missing(reader, rank, call, waits)
    together = (
        f"{call.name}/{call.other}/{call.group}/{(rank.master, rank.world) if call.name == JOINING else ''}/{absent}"
    )
    with_whom = names(call.group or reader.ranks.everybody)
    known = f"call:{together}" in graph.nodes  # another rank is in the same call: its ways on are there already
    node = graph.add(Node(f"call:{together}", "collective", f"{call.text} with {with_whom}"))
    graph.connect(Edge(me, node, "", grade, source))
    for number in () if known else absent:
        target = rank_node(reader, graph, number)
        graph.connect(Edge(node, target, "not joined by", Grade.EXACT, "the stacks of all ranks"))


def rank_node(reader: WaitReader, graph: WaitGraph, number: int) -> str:
    """A rank's main thread; where it has none here, what is known of it."""
    rank = reader.rank_numbers.get(number)
    if rank is None:
        return graph.add(Node(f"rank:{number}", "rank", f"rank {number}: {_GONE}"))
    if rank.ended:
        return graph.add(Node(f"rank:{number}", "rank", f"rank {number}, which {rank.end}"))
    if rank.node:
        doing = rank.doing or (rank.call.text if rank.call else "it was not seen in detail")
        return graph.add(Node(f"rank:{number}", "rank", f"rank {number} on {rank.node}: {doing}"))
    if reader.threads.get(rank.thread) is None:
        return graph.add(Node(f"rank:{number}", "rank", f"rank {number} (pid {rank.pid}), which was not watched"))
    return f"thread:{rank.thread}"


def main_threads(reader: WaitReader, waits: dict[int, Wait]) -> list[int]:
    """Where chains begin: at the main thread of the training, or of each rank, those that wait for others first."""
    ranks = [one for one in reader.ranks.all if not one.node and not one.ended and one.thread in waits]
    if not ranks:
        return [reader.processes.root]
    first: dict[object, int] = {}
    for one in sorted(ranks, key=lambda one: (waits[one.thread].kind is not Kind.COLLECTIVE, one.number)):
        call = waits[one.thread].call
        alike = (
            one.pid if call is None or call.vague else (call, one.master, one.world)
        )  # these all lead to the same ranks
        first.setdefault(alike, one.thread)
    return list(first.values())


def outlook(reader: WaitReader, stall: Stall) -> tuple[Verdict, str] | None:
    """What to say of a rank that waits for ranks which were not seen themselves."""
    if stall.wait.call is None or stall.cycle:
        return None
    ranks = [one for number in stall.missing if (one := reader.rank_numbers.get(number)) is not None]
    for one in ranks:
        if one.node and one.call is None and not one.found:
            quiet = f", quiet for {one.quiet_s:.0f} s" if one.quiet_s else ""
            return (
                Verdict.SLOW,
                f"{stall.role} waits for rank {one.number} on {one.node}: {one.doing or 'at work'}{quiet}",
            )
    absent = tuple(one for one in stall.missing if one in reader.ranks.absent)
    if absent and not reader.ranks.here:
        return (
            Verdict.UNKNOWN,
            f"{stall.role} waits in {stall.wait.text} for {names(absent)}, not seen from this machine",
        )
    if absent and stall.wait.call.name == JOINING:
        return Verdict.SLOW, f"{stall.role} waits in {JOINING}() for {names(absent)}, which may still be started"
    if not stall.missing and not stall.wait.call.vague and _transfers(reader, stall):
        return Verdict.SLOW, f"all ranks have come to {stall.wait.text}: they exchange data"
    return None


def _transfers(reader: WaitReader, stall: Stall) -> bool:
    """Another thread of the process is busy: it sends or receives."""
    others = [one for one in reader.threads.of(stall.wait.pid) if one.tid != stall.wait.tid]
    return any(one.cpu_share > BUSY_THREAD for one in others)


def told_by_others(reader: WaitReader, stall: Stall) -> list[Finding]:
    """What the supervisor of another machine has found at a rank that this stall waits for."""
    if stall.cycle:
        return []
    ranks = [reader.rank_numbers.get(one) for one in stall.missing]
    return [
        msgspec.structs.replace(found, chain=stall.chain)
        for one in ranks
        if one is not None and one.node
        for found in one.found
    ]
