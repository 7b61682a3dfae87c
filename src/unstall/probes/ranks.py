"""Finds the ranks of a distributed training, and the calls of torch.distributed that they are in."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from unstall.evidence.ranks import BACKWARD, JOIN, JOINING, LARGEST_WORLD, SOMETHING, Call, Rank, Ranks
from unstall.evidence.threads import Thread
from unstall.flight import layout, reader
from unstall.probes import procfs
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.memory import Unreadable
from unstall.probes.samples import SampledFrame, SampledStack

C10D = "torch.distributed.distributed_c10d"
C10D_FILE = "torch/distributed/distributed_c10d.py"
DDP_FILE = "torch/nn/parallel/distributed.py"
BACKWARD_FILE = "torch/autograd/graph.py"
_LAUNCHERS = ("torch/distributed/elastic/", "torch/distributed/launcher/", "torch/distributed/run.py")
_WRAPPERS = ("torch/distributed/c10d_logger.py", "torch/distributed/rendezvous.py")
_BELOW = ("torch/_ops.py", "torch/utils/_contextlib.py", "torch/_compile.py")  # what may stand above a call
_SIZES_AT = (24, 20, 28, 32, 16)  # where a ProcessGroup of C++ has its rank and size: it differs between versions
_NAMED = ("src", "group_src", "dst", "group_dst")


class Membership(msgspec.Struct, frozen=True):
    """Which rank a process is."""

    number: int
    world: int
    local: int | None = None
    master: str = ""


def by_environment(words: Mapping[str, str]) -> Membership | None:
    """The rank that a launcher has given to a process in its environment."""
    try:
        number, world = int(words["RANK"]), int(words["WORLD_SIZE"])
        local = int(words["LOCAL_RANK"]) if "LOCAL_RANK" in words else None
    except (KeyError, ValueError):
        return None
    address = f"{words.get('MASTER_ADDR', '')}:{words.get('MASTER_PORT', '')}"
    return Membership(number, world, local, address) if 0 <= number < world <= LARGEST_WORLD else None


def environment_of(pid: int) -> dict[str, str]:
    """The environment that a process was started with."""
    pairs = (one.partition("=") for one in (procfs.read(f"/proc/{pid}/environ") or "").split("\0"))
    return {name: value for name, equals, value in pairs if equals}


def collect(
    tree: list[int],
    interpreters: Mapping[int, Interpreter],
    stacks: Mapping[int, SampledStack],
    threads: Iterable[Thread],
) -> Ranks | None:
    """The ranks among the processes of a tree, nearest to its root first; None where there is only one."""
    memberships: dict[int, Membership] = {}
    for pid in tree:
        found = membership(pid, interpreters.get(pid), stacks.get(pid)) if pid in interpreters else None
        above = _nearest_above(pid, memberships)
        if found is not None and (above is None or above.number != found.number):
            memberships[pid] = found
    if not memberships or max(one.world for one in memberships.values()) < 2:
        return None
    memberships |= _siblings(tree, memberships, stacks)
    pending = {one.pid for one in threads if one.name.startswith("pt_gloo_runloop") and one.wakes_in_s is not None}
    ranks = []
    for pid, one in memberships.items():
        interpreter = interpreters.get(pid)
        stack = _training_stack(pid, stacks)
        several = interpreter is not None and _groups(interpreter) > 1
        call = _call(stack, one.world, pending=pid in pending, several=several) if stack else None
        master = (_master_of_init(stack) if stack else "") or one.master
        tid = stack.tid if stack is not None and stack.tid != pid else 0
        rank = Rank(one.number, pid, tid, one.local, one.world, master, call=call, pending=pid in pending)
        ranks.append(_with_beats(rank))
    ranks = _of_one_training(ranks)
    ranks += _ended(tree, {one.pid: memberships[one.pid] for one in ranks})
    world = Counter(one.world for one in ranks).most_common(1)[0][0]
    return Ranks(world, tuple(sorted(ranks, key=lambda one: (one.number, one.pid))))


def _training_stack(pid: int, stacks: Mapping[int, SampledStack]) -> SampledStack | None:
    """The main thread's stack, or that of another thread which is in a call of torch.distributed."""
    main = stacks.get(pid)
    if main is not None and name_of_call(main) is not None:
        return main
    others = (one for tid, one in stacks.items() if one.pid == pid and tid != pid)
    return next((one for one in others if name_of_call(one) is not None), main)


def _of_one_training(ranks: list[Rank]) -> list[Rank]:
    """Where a program has started several trainings: the one of which most ranks wait for each other."""
    if len({one.number for one in ranks}) == len(ranks):
        return ranks
    trainings: dict[str, list[Rank]] = {}
    for one in ranks:
        trainings.setdefault(one.master, []).append(one)
    return max(trainings.values(), key=lambda some: sum(one.call is not None for one in some))


def _siblings(
    tree: list[int], known: Mapping[int, Membership], stacks: Mapping[int, SampledStack]
) -> dict[int, Membership]:
    """Ranks that have not come to tell their number: children of the same launcher, started in the same way."""
    parents = {one.ppid for pid in known if (one := procfs.stat(pid))}
    lines = [procfs.command(pid) for pid in known]
    commands = {tuple(words[:3]) for words in lines}
    programs = [words for words in lines if not any("multiprocessing" in one for one in words)]
    world, master = next((one.world, one.master) for one in known.values())
    numbers = {one.number for one in known.values()}
    missing = [one for one in range(world) if one not in numbers]
    found: dict[int, Membership] = {}
    for pid in tree:
        process, stack = procfs.stat(pid), stacks.get(pid)
        if pid in known or stack is None or process is None or process.ppid not in parents:
            continue
        if tuple(procfs.command(pid)[:3]) not in commands or not any(one.user for one in stack.frames):
            continue
        number = _told(stack)
        if number is None and len(missing) == 1 and procfs.command(pid) in programs:
            number = missing[0]
        if number in missing:
            missing.remove(number)
            found[pid] = Membership(number, world, None, master)
    return found


def _ended(tree: list[int], known: Mapping[int, Membership]) -> list[Rank]:
    """A rank that has ended, and that its launcher has not noticed: the one child of it that is dead."""
    alike = {(one.ppid, one.name) for pid in known if (one := procfs.stat(pid))}
    world = max(one.world for one in known.values())
    numbers = {one.number for one in known.values()}
    missing = [one for one in range(world) if one not in numbers]
    ends = [(pid, one) for pid in tree if (one := procfs.stat(pid)) and one.state in "ZX"]
    found = [(pid, one) for pid, one in ends if (one.ppid, one.name) in alike]
    if len(missing) != 1 or len(found) != 1:
        return []
    pid, process = found[0]
    code = os.waitstatus_to_exitcode(process.exit_status)
    return [
        Rank(missing[0], pid, exit_code=max(code, 0) if code >= 0 else None, exit_signal=-code if code < 0 else None)
    ]


def _told(stack: SampledStack) -> int | None:
    """The number that a process has as an argument."""
    wrap = stack.find("torch/multiprocessing/spawn.py", "_wrap")
    values = [wrap.value("i")] if wrap else []
    values += [one.value(name) for one in stack.frames if one.user for name in ("rank", "global_rank", "local_rank")]
    return next((one for one in values if isinstance(one, int) and not isinstance(one, bool)), None)


def _groups(interpreter: Interpreter) -> int:
    try:
        module = interpreter.modules().item(C10D)
        groups = module.attribute("_pg_group_ranks") if module else None
        return (groups.length() or 0) if groups else 0
    except Unreadable:
        return 0


def _nearest_above(pid: int, known: Mapping[int, Membership]) -> Membership | None:
    for _ in range(16):
        found = procfs.stat(pid)
        if found is None:
            return None
        pid = found.ppid
        if pid in known:
            return known[pid]
    return None


def membership(pid: int, interpreter: Interpreter | None, stack: SampledStack | None) -> Membership | None:
    """Which rank a process is: its process group knows, or its environment, or the call that started it."""
    in_memory = _environment_in_memory(interpreter) if interpreter else {}
    given = by_environment({**environment_of(pid), **in_memory})
    joined = _of_group(interpreter) if interpreter else None
    if joined is not None:
        local, master = (given.local, given.master) if given else (None, "")
        return Membership(*joined, local, master)
    return _of_call(stack, in_memory) or given


def _of_group(interpreter: Interpreter) -> tuple[int, int] | None:
    """The number and size that the default process group has noted."""
    try:
        module = interpreter.modules().item(C10D)
        groups = module.attribute("_pg_group_ranks") if module else None
        for group, members in groups.items() if groups else ():  # the first one that was made is the default one
            address, size = interpreter.memory.u64(group.address + 16), members.length() or 0
            for offset in _SIZES_AT:
                number, world = struct.unpack("<ii", interpreter.memory.read(address + offset, 8))
                if world == size and 0 <= number < world:
                    return number, world
            return None
    except (Unreadable, struct.error):
        return None
    return None


def _of_call(stack: SampledStack | None, environment: Mapping[str, str]) -> Membership | None:
    """The number that a process has been given as an argument."""
    if stack is None:
        return None
    init = stack.find(C10D_FILE, "init_process_group")
    if init is not None:
        number, world = init.value("rank"), init.value("world_size")
        if isinstance(number, int) and isinstance(world, int) and 0 <= number < world <= LARGEST_WORLD:
            return Membership(number, world, None, _address(environment))
    return None


def _environment_in_memory(interpreter: Interpreter) -> dict[str, str]:
    """`os.environ` as it is now: a program may have set it itself."""
    wanted = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}
    found: dict[str, str] = {}
    try:
        module = interpreter.modules().item("os")
        environ = module.attribute("environ") if module else None
        data = environ.attribute("_data") if environ else None
        for key, value in data.items() if data else ():
            name, text = key.value(), value.value()
            if isinstance(name, bytes) and isinstance(text, bytes) and name.decode("ascii", "replace") in wanted:
                found[name.decode()] = text.decode("utf-8", "replace")
    except Unreadable:
        pass
    return found


def _address(environment: Mapping[str, str]) -> str:
    return f"{environment.get('MASTER_ADDR', '')}:{environment.get('MASTER_PORT', '')}"


def _master_of_init(stack: SampledStack) -> str:
    """The address that `init_process_group` was given, where that is not in the environment."""
    init = stack.find(C10D_FILE, "init_process_group")
    method = init.value("init_method") if init else None
    return method.removeprefix("tcp://") if isinstance(method, str) and method.startswith("tcp://") else ""


def name_of_call(stack: SampledStack) -> tuple[str, SampledFrame] | None:
    """The call of torch.distributed that a stack ends in, and its frame."""
    run: list[SampledFrame] = []
    for frame in stack.frames:
        inside = _is_distributed(frame.file)
        if inside:
            run.append(frame)
        elif run or not frame.file.endswith(_BELOW):
            break  # a model's own code, which runs below DDP's: that is no call of torch.distributed
    named = [one for one in run if not one.file.endswith(_WRAPPERS)]
    if not named:
        return None
    if any("torch/distributed/algorithms/join.py" in one.file for one in named):
        return JOIN, named[-1]
    public = [one for one in named if one.file.endswith(C10D_FILE) and not one.bare_name.startswith("_")]
    outer = (public or named)[-1]
    name = outer.bare_name.strip("_") if outer.bare_name != "__init__" else outer.function.split(".")[0]
    return name, outer


def _is_distributed(file: str) -> bool:
    here = "torch/distributed/" in file or file.endswith(DDP_FILE)
    return here and not any(one in file for one in _LAUNCHERS)


def _call(stack: SampledStack, world: int, *, pending: bool, several: bool) -> Call | None:
    found = name_of_call(stack)
    if found is not None:
        name, frame = found
        if name == JOINING:
            return Call(JOINING)
        group = _group(frame, world)
        other = _other(frame, group)
        from_anybody = name in ("recv", "irecv") and other is None
        return Call(name, group, other, vague=from_anybody or (several and not frame.file.endswith(C10D_FILE)))
    if not pending or not stack.frames:
        return None
    if stack.frames[0].file.endswith(BACKWARD_FILE):
        return Call(BACKWARD, vague=several)
    return Call(SOMETHING, vague=several) if stack.frames[0].user else None


def _group(frame: SampledFrame, world: int) -> tuple[int, ...]:
    """The ranks of the group that a call was made for; none for the group of all."""
    group = frame.ref("group") or frame.ref("pg")
    known = frame.ref("_pg_group_ranks")
    try:
        if group is None or group.is_none or known is None:
            return ()
        for key, members in known.items():
            if key.address == group.address:
                numbers = [one.value() for one, _ in members.items()]
                found = tuple(sorted(one for one in numbers if isinstance(one, int)))
                return () if len(found) == world else found
    except Unreadable:
        return ()
    return ()


def _other(frame: SampledFrame, group: tuple[int, ...]) -> int | None:
    """The rank that a call names as its source or its target."""
    for name in _NAMED:
        value = frame.value(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return group[value] if name.startswith("group_") and value < len(group) else value
    return None


def _with_beats(rank: Rank) -> Rank:
    """How far it got, where it runs under `unstall run`."""
    folder = environment_of(rank.pid).get("UNSTALL_RUN")
    beats = reader.read(os.path.join(folder, f"{rank.pid}.flight")) if folder else None
    if beats is None:
        return rank
    return msgspec.structs.replace(rank, delivered=beats.count(layout.DELIVERED), steps=beats.count(layout.STEPS))
