"""Puts together how a training ended, from what its processes left in the run's folder."""

from __future__ import annotations

import json
import os
import resource
from typing import Any

import msgspec

from unstall.evidence.endings import Ending, Exit, LastBeat, Place, Said
from unstall.flight import layout, reader
from unstall.probes import memory
from unstall.probes.stacks import is_user_code

MOST_WORDS = 50
LARGEST_WORDS = 1 << 20


def collect(folder: str, pid: int, status: int, script: str, oom_kills_before: int) -> Ending:
    """The ending of a training whose main process had this wait status."""
    code = os.waitstatus_to_exitcode(status)
    told = _told(folder)
    ends = [Exit(int(one["pid"]), int(one["code"])) for one in told if one.get("kind") == "exited"]
    ending = Ending(
        pid=pid,
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        said=tuple(_said(one, script) for one in told if one.get("kind") != "exited"),
        exits=tuple(one for one in ends if one.code),
        finished=tuple(one.pid for one in ends if not one.code),
        beats=tuple(_last_beat(one) for one in reader.read_all(folder).values()),
        oom_kills=(memory.oom_kills() or 0) - oom_kills_before,
        open_files_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    )
    dead = ending.first_dead if ending.failed else None
    if dead is None:
        return ending
    how = {"exit_code": dead.code, "signal": None} if dead.code >= 0 else {"exit_code": None, "signal": -dead.code}
    return msgspec.structs.replace(ending, pid=dead.pid, **how)  # the launcher only follows


def _told(folder: str) -> list[dict[str, Any]]:
    """The last words in a run's folder, oldest first."""
    told = []
    for name in os.listdir(folder):
        if name.endswith(".words"):
            found = _read(os.path.join(folder, name))
            if isinstance(found, dict):
                told.append(found)
    return sorted(told, key=lambda one: float(one.get("at", 0)))[-MOST_WORDS:]


def _said(one: dict[str, Any], script: str) -> Said:
    return Said(
        kind=str(one.get("kind")),
        pid=int(one.get("pid", 0)),
        type=str(one.get("type")),
        message=str(one.get("message")),
        number=one.get("number"),
        stage=str(one.get("stage")),
        sample=one.get("sample"),
        places=tuple(
            Place(str(file), int(line), str(function), is_user_code(str(file), script))
            for file, line, function in one.get("frames", ())
        ),
        after=tuple(map(str, one.get("after", ()))),
    )


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(file.read(LARGEST_WORDS))
    except (OSError, ValueError):
        return None


def _last_beat(beats: reader.Beats) -> LastBeat:
    return LastBeat(
        pid=beats.pid,
        number=beats.number,
        rank=beats.rank,
        parent=beats.parent,
        phase=beats.phase,
        stage=beats.stage,
        sample=beats.sample,
        samples=beats.count(layout.SAMPLES),
        delivered=beats.count(layout.DELIVERED),
        steps=beats.count(layout.STEPS),
    )
