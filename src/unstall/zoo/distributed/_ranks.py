"""Starts the ranks of a program: as `torchrun` does, or in its own way."""

import os
import socket
import subprocess
import sys


def by_torchrun(script, ranks):
    """Run a script in several ranks, with torch's own launcher; end as it ends."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", script]
    sys.exit(subprocess.call(command, env={**os.environ, "OMP_NUM_THREADS": "1"}))


def as_children(script, ranks, started=None):
    """Run a script in several ranks, as launchers of clusters do; `started` are the ones that are really started."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen([sys.executable, script], env={**os.environ, **meeting, "RANK": str(one)})
        for one in (range(ranks) if started is None else started)
    ]
    sys.exit(max(one.wait() for one in children))
