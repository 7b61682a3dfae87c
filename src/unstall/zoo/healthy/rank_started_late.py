"""A script starts its ranks one after the other, and gives each some time. The first one waits for the second one.

cause: none
verdict: slow, progressing
"""

import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist

from unstall.zoo import announce


def main():
    announce()
    dist.init_process_group("gloo")
    dist.all_reduce(torch.ones(1))


def launch():
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 20000), "WORLD_SIZE": "3"}
    started = []
    for rank in ("1", "0", "2"):
        environment = {**os.environ, **meeting, "RANK": rank}
        started.append(subprocess.Popen([sys.executable, __file__], env=environment))
        time.sleep(25)
    for one in started:
        one.wait()


if __name__ == "__main__":
    main() if "RANK" in os.environ else launch()
