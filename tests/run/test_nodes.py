"""Two machines: network namespaces stand in for them. Each `unstall run` sees its own rank only, and hears of the other."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.zoo import kill_session

pytestmark = pytest.mark.live
LIMIT_S = 120
UNEVEN = """
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    for step in range(5 if dist.get_rank() else 6):
        dist.all_reduce(torch.ones(2))
    dist.barrier()
"""
STUCK = """
    import os
    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __len__(self):
            return 20

        def __getitem__(self, index):
            if index == 9 and os.environ["RANK"] == "1":
                os.mkfifo("rows")
                open("rows").read()
            return torch.full((2,), float(index))

    dist.init_process_group("gloo")
    for batch in DataLoader(Rows(), batch_size=2, num_workers=1):
        dist.all_reduce(batch)
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[list[tuple[str, str]]]:
    """Two network namespaces with a cable between them: name and device of each."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root and the `ip` command of iproute2")
    tag = f"un{os.getpid() % 100000}"
    ends = [(f"{tag}a", f"{tag}a0"), (f"{tag}b", f"{tag}b0")]
    commands = [f"netns add {name}" for name, _ in ends]
    commands.append(f"link add {ends[0][1]} netns {ends[0][0]} type veth peer name {ends[1][1]} netns {ends[1][0]}")
    for place, (name, device) in enumerate(ends, 1):
        commands += [f"-n {name} addr add 10.77.0.{place}/24 dev {device}"]
        commands += [f"-n {name} link set {one} up" for one in ("lo", device)]
    try:
        for one in commands:
            done = subprocess.run(["ip", *one.split()], capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"no network namespaces here: {done.stderr.strip()}")
        yield ends
    finally:
        for name, _ in ends:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@contextlib.contextmanager
def both(machines: list[tuple[str, str]], folder: Path, code: str, *, shared: bool) -> Iterator[list[Path]]:
    """The training on both machines, each under its own supervisor; the files with what they say."""
    (folder / "train.py").write_text(textwrap.dedent(code))
    started, said = [], []
    for number, (name, device) in enumerate(machines):
        runs = folder / ("runs" if shared else f"runs-{number}")
        said.append(folder / f"node-{number}.json")
        torchrun = "-m torch.distributed.run --nnodes=2 --nproc-per-node=1 --master-addr=10.77.0.1 --master-port=29477"
        command = ["ip", "netns", "exec", name, sys.executable, "-m", "unstall", "run", "--runs", str(runs)]
        command += [
            "--json",
            str(said[-1]),
            "--",
            sys.executable,
            *torchrun.split(),
            f"--node-rank={number}",
            "train.py",
        ]
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": device, "OMP_NUM_THREADS": "1"}
        with (folder / f"log-{number}").open("wb") as log:
            started.append(
                subprocess.Popen(
                    command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
                )
            )
    try:
        yield said
    finally:
        for one in started:
            kill_session(one.pid)
            one.wait()


def diagnosed(path: Path) -> dict[str, object]:
    """The first diagnosis that a supervisor has made."""
    end = time.monotonic() + LIMIT_S
    while not (path.exists() and (found := json.loads(path.read_text())["diagnoses"])):
        assert time.monotonic() < end, path.with_name(path.stem.replace("node", "log")).read_text()
        time.sleep(0.2)  # allow-sleep: the file is replaced, which tells nobody
    return found[0]


def test_ranks_on_two_machines_wait_for_each_other(machines: list[tuple[str, str]], tmp_path: Path) -> None:
    with both(machines, tmp_path, UNEVEN, shared=True) as said:
        for path in said:
            found = diagnosed(path)["findings"]
            assert found[0]["cause"] == "rank-batch-count-mismatch"
            assert found[0]["where"][0]["line"] == 7


def test_the_machine_that_waits_hears_what_the_other_is_stuck_at(
    machines: list[tuple[str, str]], tmp_path: Path
) -> None:
    with both(machines, tmp_path, STUCK, shared=True) as said:
        for path in said:
            diagnosis = diagnosed(path)
            assert [one["cause"] for one in diagnosis["findings"]] == ["one-rank-stuck-in-data", "open-blocks-on-fifo"]
            assert diagnosis["findings"][0]["sample"] == 9
            assert diagnosis["unexamined"] == []


def test_what_is_not_seen_is_said(machines: list[tuple[str, str]], tmp_path: Path) -> None:
    with both(machines, tmp_path, STUCK, shared=False) as said:
        waits = diagnosed(said[0])
        assert waits["verdict"] == "unknown"
        assert waits["findings"] == []
        assert [one["what"] for one in waits["unexamined"]] == ["rank 1"]
        assert diagnosed(said[1])["findings"][0]["cause"] == "open-blocks-on-fifo"
