"""Properties of the wait graph that hold for any graph."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from unstall.model.finding import Grade
from unstall.model.graph import LONGEST_PATH, Edge, Node, Path, WaitGraph

Pairs = list[tuple[int, int]]

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24)


def graph_of(some: Pairs) -> WaitGraph:
    edges = [Edge(str(source), str(target), "waits for", Grade.EXACT, "a test") for source, target in some]
    return WaitGraph([Node("0", "thread", "the start")], edges)


def reachable(some: Pairs, start: int) -> set[int]:
    """What can be reached from a node in one step or more."""
    found: set[int] = set()
    border = {start}
    while border:
        border = {target for source, target in some if source in border} - found
        found |= border
    return found


def ends(paths: list[Path]) -> set[str]:
    return {path.end for path in paths if not path.cycle}


@given(pairs)
@example([])
@example([(0, 0)])
@example([(0, 1), (1, 0), (1, 2)])
def test_paths_lead_along_edges(some: Pairs) -> None:
    for path in graph_of(some).paths("0"):
        assert path.nodes[0] == "0"
        assert [(edge.source, edge.target) for edge in path.edges] == list(
            zip(path.nodes, path.nodes[1:], strict=False)
        )
        assert {(int(edge.source), int(edge.target)) for edge in path.edges} <= set(some)


@given(pairs)
def test_every_cycle_is_real_and_closes(some: Pairs) -> None:
    for path in graph_of(some).paths("0"):
        if path.cycle:
            steps = zip(path.cycle, (*path.cycle[1:], path.cycle[0]), strict=True)
            assert {(int(source), int(target)) for source, target in steps} <= set(some)
            assert len(set(path.cycle)) == len(path.cycle)
            assert path.end == path.cycle[0]


@given(pairs)
def test_every_root_is_found_once_and_nothing_else_is(some: Pairs) -> None:
    paths = graph_of(some).paths("0")
    here = reachable(some, 0) | {0}
    roots = [path.end for path in paths if not path.cycle]
    assert sorted(roots) == sorted(str(one) for one in here if one not in {source for source, _ in some})
    assert len({frozenset(path.cycle) for path in paths if path.cycle}) == len(paths) - len(roots)


@given(pairs)
def test_a_cycle_that_can_be_reached_is_found(some: Pairs) -> None:
    paths = graph_of(some).paths("0")
    assert paths
    in_cycles = [one for one in reachable(some, 0) | {0} if one in reachable(some, one)]
    assert any(path.cycle for path in paths) == bool(in_cycles)


@given(pairs)
def test_the_order_is_fixed_and_a_second_edge_changes_nothing(some: Pairs) -> None:
    paths = graph_of(some).paths("0")
    assert graph_of(some).paths("0") == paths
    assert graph_of([*some, *some]).paths("0") == paths


@given(pairs)
def test_a_path_in_words_has_one_step_per_edge(some: Pairs) -> None:
    graph = graph_of(some)
    for path in graph.paths("0"):
        links = graph.links(path)
        assert len(links) == len(path.edges)
        assert all(link.who and link.waits_for.startswith("waits for ") for link in links)


def test_an_unknown_start_has_no_paths() -> None:
    assert graph_of([(0, 1)]).paths("nobody") == []


def test_the_first_of_two_nodes_stays() -> None:
    graph = WaitGraph([Node("a", "thread", "first")])
    assert graph.add(Node("a", "thread", "second")) == "a"
    assert graph.nodes["a"].label == "first"


def test_a_long_chain_ends() -> None:
    chain = [(number, number + 1) for number in range(10 * LONGEST_PATH)]
    [path] = graph_of(chain).paths("0")
    assert len(path.nodes) == LONGEST_PATH + 1


def test_a_dense_graph_ends() -> None:
    """There are more ways through it than could ever be counted."""
    dense = [(one, other) for one in range(60) for other in range(60)]
    paths = graph_of(dense).paths("0")
    assert ends(paths) == set()
    assert paths
