"""The wait graph: who waits for whom, and how that is known.

Nodes are threads, processes, locks, files, pipes, sockets, queues, loaders. An edge goes from what is stuck to
what it is stuck on. Follow the edges from the training loop: a node that waits for nothing else is the root; a
way that comes back to itself is a deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from unstall.model.finding import Grade, Link

LONGEST_PATH = 64


class Node(msgspec.Struct, frozen=True):
    """Something that waits, or is waited for."""

    id: str
    kind: str
    label: str
    at: str = ""  # what to print where the node is the one who waits: its place in the program


class Edge(msgspec.Struct, frozen=True):
    """`source` waits for, or is held by, `target`."""

    source: str
    target: str
    relation: str
    grade: Grade
    evidence: str


class Path(msgspec.Struct, frozen=True):
    """A way through the graph. `cycle` is the part that repeats, if the way comes back to itself."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    cycle: tuple[str, ...] = ()

    @property
    def end(self) -> str:
        """The last node: the root of the stall, or where the cycle closes."""
        return self.nodes[-1]


class WaitGraph:
    """Nodes and edges, and the ways through them."""

    def __init__(self, nodes: Iterable[Node] = (), edges: Iterable[Edge] = ()) -> None:
        self.nodes: dict[str, Node] = {node.id: node for node in nodes}
        self.edges: dict[str, list[Edge]] = {}
        for edge in edges:
            self.connect(edge)

    def add(self, node: Node) -> str:
        """Add a node; the first of several with one id stays."""
        self.nodes.setdefault(node.id, node)
        return node.id

    def connect(self, edge: Edge) -> None:
        """Add an edge. Both its ends become nodes."""
        for end in (edge.source, edge.target):
            self.nodes.setdefault(end, Node(end, "unknown", end))
        known = self.edges.setdefault(edge.source, [])
        if all(edge.target != other.target for other in known):
            known.append(edge)

    def paths(self, start: str) -> list[Path]:
        """Every way from `start` to a root or into a cycle, each root or cycle once, in a fixed order."""
        if start not in self.nodes:
            return []
        found: dict[object, Path] = {}
        seen: set[str] = set()
        stack: list[tuple[tuple[str, ...], tuple[Edge, ...]]] = [((start,), ())]
        while stack:
            nodes, edges = stack.pop()
            here = nodes[-1]
            if here in nodes[:-1]:
                cycle = nodes[nodes.index(here) : -1]
                found.setdefault(frozenset(cycle), Path(nodes, edges, cycle))
                continue
            onward = self.edges.get(here, [])
            if not onward or len(nodes) > LONGEST_PATH:
                found.setdefault(here, Path(nodes, edges))
                continue
            if here in seen:
                continue
            seen.add(here)
            stack.extend(((*nodes, edge.target), (*edges, edge)) for edge in reversed(onward))
        return list(found.values())

    def links(self, path: Path) -> tuple[Link, ...]:
        """The way in words, one step per edge."""
        return tuple(
            Link(
                who=self.nodes[edge.source].label,
                waits_for=f"{edge.relation} {self.nodes[edge.target].label}".strip(),
                grade=edge.grade,
                source=edge.evidence,
            )
            for edge in path.edges
        )
