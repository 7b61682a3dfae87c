"""How the ranks of a training ended: which one was the first, and which only followed."""

from __future__ import annotations

from unstall.evidence.endings import UNCAUGHT, Ending, Exit, LastBeat, Said

_GONE = (  # what torch says in a rank when another one has ended
    "Connection closed by peer",
    "Connection reset by peer",
    "Broken pipe",
    "remote process exited",
    "Socket Timeout",
    "failed to recv, got 0 bytes",
)
_SIGTERM = 15


def ranks(ending: Ending) -> tuple[LastBeat, ...]:
    """The main processes of the ranks, where it had several."""
    known = {one.pid: one.rank for one in ending.beats}
    found = {
        one.pid: one
        for one in ending.beats
        if one.rank is not None and one.number is None and known.get(one.parent) != one.rank
    }
    return tuple(sorted(found.values(), key=lambda one: (one.rank or 0, one.pid))) if len(found) > 1 else ()


def words_of(ending: Ending, pid: int) -> Said | None:
    """The exception that ended a process."""
    return next((one for one in reversed(ending.said) if one.pid == pid and one.kind == UNCAUGHT), None)


def exits(ending: Ending) -> tuple[Exit, ...]:
    """The ranks that did not end with 0, oldest first."""
    pids = {one.pid for one in ranks(ending)}
    return tuple(one for one in ending.exits if one.pid in pids)


def first_dead(ending: Ending) -> Exit | None:
    """The rank whose end made the others end; None where all that ended badly only lost a connection."""
    dead = exits(ending)
    own = [one for place, one in enumerate(dead) if not _follows(ending, one, first=place == 0)]
    return own[0] if own else None


def lost_connection(said: Said) -> bool:
    """It says that another rank is gone."""
    return any(one in said.message for one in _GONE)


def _follows(ending: Ending, one: Exit, *, first: bool) -> bool:
    """It lost the connection to a rank that was gone, or was ended by the launcher after another one."""
    words = words_of(ending, one.pid)
    return lost_connection(words) if words is not None else one.code == -_SIGTERM and not first
