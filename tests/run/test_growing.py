"""What the agent and the probes say of things that grow."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy
import pytest
import torch

from unstall.agent import datasets, keeping, samples
from unstall.agent.graphs import EVERY, Graphs
from unstall.flight import layout
from unstall.probes import growing

SOURCE = """
def train(loader):
    total = 0.0
    hidden = start()
    seen = {}
    for number, batch in enumerate(loader):
        loss = step(batch)
        total += loss
        hidden = cell(batch, hidden)
        seen[number] = loss
        if len(seen) > 10:
            break
"""


class Told:
    """Keeps what would be noted."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def graph(self, what: str, names: list[list[object]], **more: object) -> None:
        self.all.append(f"{what} {names[0][0]}")


@pytest.mark.parametrize(("name", "line"), [("total", 8), ("hidden", 9), ("seen", 10)])
def test_the_line_that_adds_to_a_name(tmp_path: Path, name: str, line: int) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE)
    place = growing.place_of([[name, str(file), 2, "train"]], 1)
    assert place is not None
    assert place.line == line


def test_a_container_whose_length_is_looked_at_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(textwrap.dedent(SOURCE))
    assert growing.is_bounded([["seen", str(file), 2, "train"]])
    assert not growing.is_bounded([["total", str(file), 2, "train"]])


def test_equal_batches_have_equal_digests() -> None:
    batch = {"x": torch.arange(4000.0), "names": ["a", "b"], "y": numpy.arange(3)}
    same = {"x": torch.arange(4000.0), "names": ["a", "b"], "y": numpy.arange(3)}
    assert samples.digest(batch) == samples.digest(same) != 0
    assert samples.digest({**batch, "names": ["a", "c"]}) != samples.digest(batch)
    assert samples.digest([object()]) == 0, "what can't be read is not compared"


def slots() -> memoryview:
    return memoryview(bytearray(layout.SIZE)).cast("q")


def test_a_graph_that_goes_on_from_batch_to_batch_is_found() -> None:
    weight = torch.ones(4, requires_grad=True)
    told, beats = Told(), slots()
    graphs = Graphs(told)  # type: ignore[arg-type]
    total = torch.zeros(4)
    for _ in range(EVERY * 3):
        total = total + weight
    graphs._look(1, 0)
    for _ in range(EVERY * 3):
        total = total + weight
        graphs.tick(beats)
    graphs._look(2, 0)
    assert set(told.all) == {"variable total"}


def test_a_long_graph_of_one_batch_is_not_accused() -> None:
    weight = torch.ones(4, requires_grad=True)
    told, beats = Told(), slots()
    graphs = Graphs(told)  # type: ignore[arg-type]
    for length in (50, 500):
        total = torch.zeros(4)
        for _ in range(length):
            total = total + weight
        for _ in range(EVERY):
            graphs.tick(beats)
        graphs._look(length, 0)
    assert told.all == []


def test_only_large_containers_of_python_objects_are_copied_by_reading() -> None:
    assert datasets._of_objects(["a"] * 10)
    assert not datasets._of_objects([torch.zeros(1)])
    assert not datasets._of_objects([])


def test_iterators_without_workers_are_not_counted() -> None:
    assert keeping.Kept().add(iter([]), 0) == (0, [], False)
