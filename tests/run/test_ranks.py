"""Ranks that are there for real: who started them, which rank each process is, and how the run ends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.zoo import ZOO, running, supervised
from unstall.evidence import rank_endings
from unstall.evidence.endings import Ending
from unstall.evidence.ranks import JOINING, Call, Ranks
from unstall.probes import procfs
from unstall.probes.collect import Collection
from unstall.probes.processes import descendants, find_root, is_python
from unstall.workflows.why import read

pytestmark = pytest.mark.live
PROGRAMS = ZOO / "distributed"


@pytest.fixture(scope="module")
def branches() -> Iterator[subprocess.Popen[bytes]]:
    """Two ranks in different calls, each started as a program of its own."""
    with running(PROGRAMS / "collective_order_mismatch_branches.py") as process:
        yield process


def ranks_of(pid: int) -> Ranks:
    collection = Collection(pid)
    try:
        collection.watch(0.5)
        found = collection.bundle().get(Ranks)
    finally:
        collection.close()
    assert found is not None
    return found


def test_each_rank_leads_to_its_launcher(branches: subprocess.Popen[bytes]) -> None:
    below = [pid for pid in descendants(branches.pid) if is_python(pid)]
    assert len(below) == 2
    assert {find_root(pid) for pid in [branches.pid, *below]} == {branches.pid}


def test_which_rank_is_in_which_call(branches: subprocess.Popen[bytes]) -> None:
    found = ranks_of(branches.pid)
    assert [(one.number, one.world, one.pending) for one in found.all] == [(0, 2, True), (1, 2, True)]
    assert [one.call for one in found.all] == [Call("all_reduce"), Call("broadcast", other=0)]
    assert found.here
    assert found.absent == ()


def test_ranks_of_spawn_know_their_numbers_before_they_join() -> None:
    with running(PROGRAMS / "rank_missing_at_init_other_port.py") as process:
        found = ranks_of(process.pid)
    assert [one.number for one in found.all] == [0, 1, 2]
    assert len({one.master for one in found.all}) == 2
    assert {one.call.name for one in found.all if one.call} <= {JOINING}


def test_torchrun_is_the_launcher() -> None:
    with running(PROGRAMS / "collective_order_mismatch.py") as process:
        (torchrun,) = [pid for pid in descendants(process.pid) if "torch.distributed.run" in procfs.command(pid)]
        ranks = [pid for pid in descendants(torchrun) if is_python(pid)]
        assert {find_root(pid) for pid in ranks} == {torchrun}


def test_the_first_rank_to_die_is_the_cause(tmp_path: Path) -> None:
    """Its exit status and last words are the run's; the launcher and the other ranks only follow."""
    with supervised(PROGRAMS / "rank_died_exception.py", tmp_path) as process:
        assert process.wait(120) != 0
    run = json.loads((tmp_path / "run.json").read_text())
    ending = read(Path(run["folder"]) / "ending.json").get(Ending)
    assert ending is not None
    ranks, dead = rank_endings.ranks(ending), rank_endings.first_dead(ending)
    assert [one.rank for one in ranks] == [0, 1]
    assert dead is not None
    assert ending.pid == dead.pid == ranks[0].pid
    assert ending.last_words is not None
    assert ending.last_words.type == "IndexError"
    others = [rank_endings.words_of(ending, one.pid) for one in rank_endings.exits(ending) if one.pid != ending.pid]
    assert all(one is None or rank_endings.lost_connection(one) for one in others)
