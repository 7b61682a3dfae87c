"""Programs that get stuck on purpose, and healthy ones that look as if they were.

Each program is an ordinary training script. Its docstring says what happens, and ends with fields:

    cause: lock-self-deadlock      the slug that `unstall why` must report; `none` for a healthy program
    also: file-lock-held           causes that are true as well, and stand behind it
    sample: 20                     the sample that never ends (only where the stall has a map-style sample)
    watched: run                   it is seen by `unstall run`; "steps": in its training steps; "left over": a look at
                                   what is left when it has ended; else by a look at it
    needs: tokenizers              a package without which it can't run
    verdict: progressing, slow     the verdicts that are right (a stuck program without it: stalled)

The guilty line carries the comment `# stalls here`. Tests read these; the diagnosis never does.
"""

from __future__ import annotations

import os
import sys

READY = "UNSTALL_ZOO_READY"


def announce(word: str = "stalled") -> None:
    """Say that the stall begins now: to the file named by UNSTALL_ZOO_READY, else to stderr."""
    path = os.environ.get(READY)
    if path is None:
        print(word, file=sys.stderr, flush=True)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, word.encode() + b"\n")
    os.close(descriptor)
