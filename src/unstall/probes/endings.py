"""Puts together how a training ended, from what its processes left in the run's folder."""

from __future__ import annotations

import contextlib
import json
import linecache
import os
import re
import resource
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from unstall.evidence import rank_endings
from unstall.evidence.code import Code
from unstall.evidence.endings import (
    Culprit,
    Earlier,
    Ending,
    Exit,
    Fault,
    Killed,
    LastBeat,
    Left,
    Maker,
    OpenFiles,
    Place,
    Resources,
    Said,
    Variant,
)
from unstall.evidence.stacks import Frame
from unstall.flight import layout, reader
from unstall.probes import code, memory
from unstall.probes.stacks import is_user_code

MOST_WORDS = 50
LARGEST_WORDS = 1 << 20
LARGEST_MEMBER = 64 << 20  # of an archive, to be read again
_FAULT = re.compile(r"^Fatal Python error: (.+)$", re.MULTILINE)
_FAULT_PLACE = re.compile(r'^  File "([^"\n]+)", line (\d+) in (.+)$', re.MULTILINE)
_MEMBER = re.compile(r"for file '([^'\n]+)'|name in directory '([^'\n]+)'")
Words = dict[str, Any]


def collect(
    folder: str,
    pid: int,
    status: int | None,
    script: str,
    oom_kills_before: int,
    *,
    resources: Resources | None = None,
    largest: Mapping[int, int] | None = None,
) -> Ending:
    """The ending of a training whose main process had this wait status; None: what was said so far, while it runs."""
    exit_code = os.waitstatus_to_exitcode(status) if status is not None else None
    told = _told(folder)
    ends = [
        Exit(int(one["pid"]), int(one["code"]), str(one.get("name", ""))) for one in told if one["kind"] == "exited"
    ]
    ending = Ending(
        pid=pid,
        exit_code=exit_code if exit_code is not None and exit_code >= 0 else None,
        signal=-exit_code if exit_code is not None and exit_code < 0 else None,
        said=tuple(_said(one, script) for one in told if one.get("kind") not in ("exited", "killed", "left")),
        exits=tuple(one for one in ends if one.code),
        finished=tuple(one.pid for one in ends if not one.code),
        killed=tuple(_killed(one, script) for one in told if one["kind"] == "killed"),
        left=tuple(_left(one, script) for one in told if one["kind"] == "left"),
        faults=tuple(_faults(folder, script)),
        beats=tuple(_last_beat(one, largest or {}) for one in reader.read_all(folder).values()),
        oom_kills=(memory.oom_kills() or 0) - oom_kills_before,
        open_files_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        resources=resources or Resources(),
    )
    dead = rank_endings.first_dead(ending) if ending.failed else None
    if dead is None:
        return ending
    how = {"exit_code": dead.code, "signal": None} if dead.code >= 0 else {"exit_code": None, "signal": -dead.code}
    return msgspec.structs.replace(ending, pid=dead.pid, **how)  # the launcher only follows


def source_of(ending: Ending) -> Code:
    """The user's code that made the failing samples, and the lines of the tracebacks."""
    failure = ending.failure
    if failure is None:
        return Code()
    culprit = failure.culprit
    known = [*failure.makers, *((culprit.maker, culprit.owner_init) if culprit else ())]
    makers = [Frame(one.file, one.line, one.function, one.line, user=True) for one in known if one is not None]
    lines = [Frame(one.file, one.line, one.function, one.line, user=True) for one in failure.where]
    return code.collect((0, one) for one in (*makers, *lines))[0]


def _told(folder: str) -> list[Words]:
    """The last words in a run's folder, oldest first."""
    told = []
    for name in os.listdir(folder):
        if name.endswith(".words"):
            found = _read(os.path.join(folder, name))
            if isinstance(found, dict) and "kind" in found:
                told.append(found)
    return sorted(told, key=lambda one: float(one.get("at", 0)))[-MOST_WORDS:]


def _said(one: Words, script: str) -> Said:
    repeated = one.get("repeated") or None
    message, shared = str(one.get("message")), tuple(map(str, one.get("shared", ())))
    open_files = one.get("open_files")
    return Said(
        kind=str(one.get("kind")),
        pid=int(one.get("pid", 0)),
        type=str(one.get("type")),
        message=message,
        number=one.get("number"),
        name=str(one.get("name", "")),
        handed_over=str(one.get("handed_over", "")),
        stage=str(one.get("stage")),
        sample=one.get("sample"),
        places=_places(one.get("frames", ()), script),
        earlier=tuple(
            Earlier(str(e["type"]), str(e["message"]), _places(e["frames"], script), bool(e["deliberate"]))
            for e in one.get("earlier", ())
        ),
        repeated=_places([repeated[:3]], script)[0] if repeated else None,
        repeats=int(repeated[3]) if repeated else 0,
        batch=tuple(Variant(v["parts"], int(v["count"]), tuple(v["indices"])) for v in one.get("batch", ())),
        makers=tuple(made for one in one.get("makers", ()) if (made := _maker(one, script)) is not None),
        unpicklable=bool(one.get("unpicklable")),
        culprit=_culprit(one["culprit"], script) if one.get("culprit") else None,
        open_files=OpenFiles(open_files["count"], open_files["limit"], tuple(map(tuple, open_files["most"])))
        if open_files
        else None,
        shared=shared,
        intact=tuple(path for path in shared if _is_intact(path, message)),
    )


def _maker(one: Any, script: str) -> Maker | None:
    return Maker(str(one[0]), int(one[1]), str(one[2])) if one and is_user_code(str(one[0]), script) else None


def _culprit(one: Words, script: str) -> Culprit:
    return Culprit(
        sort=str(one["sort"]),
        owner=str(one.get("owner", "")),
        attribute=str(one.get("attribute", "")),
        maker=_maker(one.get("maker"), script),
        owner_init=_maker(one.get("owner_init"), script),
    )


def _places(frames: Iterable[Any], script: str) -> tuple[Place, ...]:
    found = []
    for file, line, function in frames:
        user = is_user_code(str(file), script)
        raises = user and linecache.getline(str(file), int(line)).lstrip().startswith("raise")
        found.append(Place(str(file), int(line), str(function), user, raises))
    return tuple(found)


def _killed(one: Words, script: str) -> Killed:
    return Killed(
        int(one["pid"]), int(one["target"]), int(one["signal"]), one.get("number"), _places(one["frames"], script)
    )


def _left(one: Words, script: str) -> Left:
    places = _places(one["frames"], script)
    return Left(int(one["pid"]), int(one["code"]), one.get("number"), str(one["stage"]), one.get("sample"), places)


def _faults(folder: str, script: str) -> list[Fault]:
    """What Python's fault handler wrote in workers that crashed."""
    found = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not name.endswith(".fault") or not os.path.getsize(path):
            continue
        with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(LARGEST_WORDS)
            what = _FAULT.search(text)
            places = _places(reversed(_FAULT_PLACE.findall(text)), script)
            found.append(Fault(int(name.partition(".")[0]), what.group(1) if what else "", places))
    return found


def _is_intact(path: str, message: str) -> bool:
    """Whether the member of a zip archive that could not be read, or the whole of it, is without a fault when read alone."""
    named = _MEMBER.search(message)
    try:
        with zipfile.ZipFile(path) as archive:
            names = [next(filter(None, named.groups()))] if named else archive.namelist()
            if sum(archive.getinfo(one).file_size for one in names) > LARGEST_MEMBER:
                return False
            for one in names:
                archive.read(one)
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return False
    return True


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(file.read(LARGEST_WORDS))
    except (OSError, ValueError):
        return None


def _last_beat(beats: reader.Beats, largest: Mapping[int, int]) -> LastBeat:
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
        ended=beats.is_worker and beats.count(layout.ENDED) == 1,
        largest_bytes=largest.get(beats.pid),
    )
