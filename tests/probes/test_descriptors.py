"""What blocked threads wait on, who has the other end, and that looking at it changes nothing."""

from __future__ import annotations

import os
import pty
import socket
from pathlib import Path

import pytest
from tests.support.started import Started, footprint, started, until, until_in

from unstall.evidence.descriptors import Descriptor, Descriptors, End
from unstall.probes import network, procfs
from unstall.probes.descriptors import DescriptorProbe
from unstall.probes.python.memory import ProcessMemory
from unstall.probes.threads import ThreadWatcher


def waited_on(pid: int) -> Descriptors:
    """What a process's threads wait on."""
    network.socket_owners.cache_clear()
    watcher = ThreadWatcher([pid])
    watcher.look()
    with ProcessMemory(pid) as memory:
        return DescriptorProbe({pid: memory}).collect(list(watcher.finish({pid: memory})))


def the_one(program: Started, call: str) -> Descriptor:
    until(lambda: procfs.syscall(program.pid, program.pid)[0] in call.split(), call)
    before = footprint(program.pid)
    found = waited_on(program.pid)
    assert footprint(program.pid) == before, "it still waits, and has not run"
    descriptor = found.of_thread(program.pid, program.pid)
    assert descriptor is not None
    return descriptor


def test_a_full_pipe_has_two_ends(tmp_path: Path) -> None:
    code = """
        import fcntl, os
        reading, writing = os.pipe()
        capacity = fcntl.fcntl(writing, 1031, 4096)
        child = os.fork()
        if not child:
            os.close(writing)
            say(os.getpid(), reading, writing)
            input()
        os.close(reading)
        os.write(writing, bytes(capacity))
        os.write(writing, b"one too many")
    """
    with started(tmp_path, code) as program:
        child, reading, writing = (int(word) for word in program.line())
        pipe = the_one(program, "write")
    assert (pipe.fd, pipe.sort) == (writing, "pipe")
    assert pipe.readers == (End(child, reading),)
    assert pipe.writers == (End(program.pid, writing),)
    assert (pipe.waiting_bytes, pipe.capacity) == (4096, 4096)


def test_an_empty_pipe_with_no_writer_elsewhere(tmp_path: Path) -> None:
    with started(tmp_path, "import os; ends = os.pipe(); say(*ends); os.read(ends[0], 1)") as program:
        reading, writing = (int(word) for word in program.line())
        pipe = the_one(program, "read")
    assert pipe.readers == (End(program.pid, reading),)
    assert pipe.writers == (End(program.pid, writing),)
    assert pipe.waiting_bytes == 0


@pytest.mark.parametrize(
    "wait",
    [
        "select.select([reading], [], [])",
        "poller.poll()",
        "open(reading, closefd=False).read()",
        "connection.Connection(reading).recv()",
    ],
)
def test_other_ways_to_wait_for_a_pipe(tmp_path: Path, wait: str) -> None:
    code = f"""
        import os, select
        from multiprocessing import connection
        reading, writing = os.pipe()
        poller = select.poll()
        poller.register(reading, select.POLLIN)
        say(reading)
        {wait}
    """
    with started(tmp_path, code) as program:
        reading = program.number()
        assert the_one(program, "read select pselect6 poll ppoll").fd == reading


@pytest.mark.parametrize("mode", ["O_RDONLY", "O_WRONLY"])
def test_a_fifo_that_nobody_else_opens_stays_closed(tmp_path: Path, mode: str) -> None:
    """To open it, even for a moment, would wake whoever waits for a partner."""
    fifo = tmp_path / "samples.fifo"
    os.mkfifo(fifo)
    with started(tmp_path, f"import os; say(1); os.open('samples.fifo', os.{mode})") as program:
        program.line()
        until_in("openat", program.pid)
        before = footprint(program.pid)
        opening = waited_on(program.pid).opening(program.pid)
        assert footprint(program.pid) == before
    assert opening is not None
    assert (opening.path, opening.sort, opening.others) == (str(fifo), "fifo", ())
    assert opening.filesystem


def test_a_fifo_that_was_opened_is_not_opened_again(tmp_path: Path) -> None:
    fifo = tmp_path / "samples.fifo"
    os.mkfifo(fifo)
    with started(tmp_path, "say(1); open('samples.fifo', 'rb').read()") as program:
        program.line()
        writer = os.open(fifo, os.O_WRONLY)
        found = the_one(program, "read")
        os.close(writer)
    assert (found.sort, found.path) == ("fifo", str(fifo))
    assert End(os.getpid(), writer) in found.writers
    assert [one.pid for one in found.readers] == [program.pid]
    assert found.waiting_bytes is None


def test_a_connection_to_a_server_that_is_silent(tmp_path: Path) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    with started(tmp_path, f"import socket; socket.create_connection(('127.0.0.1', {port})).recv(1)") as program:
        mine, _ = server.accept()
        found = the_one(program, "recvfrom")
        assert (found.sort, found.protocol, found.state) == ("socket", "tcp", "established")
        assert (found.peer, found.peer_pid, found.waiting_bytes) == (f"127.0.0.1:{port}", os.getpid(), 0)
        mine.close()
    server.close()


def test_a_connection_over_ip6(tmp_path: Path) -> None:
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    port = server.getsockname()[1]
    with started(tmp_path, f"import socket; socket.create_connection(('::1', {port})).recv(1)") as program:
        mine, _ = server.accept()
        assert the_one(program, "recvfrom").peer_pid == os.getpid()
        mine.close()
    server.close()


def test_a_pair_of_local_sockets(tmp_path: Path) -> None:
    with started(tmp_path, "import socket; ends = socket.socketpair(); say(1); ends[0].recv(1)") as program:
        program.line()
        found = the_one(program, "recvfrom")
    assert (found.sort, found.protocol) == ("socket", "unix")
    assert found.peer_pid in (None, program.pid)


def test_a_terminal(tmp_path: Path) -> None:
    leader, terminal = pty.openpty()
    code = "import os, sys; fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); say(fd); os.read(fd, 1)"
    with started(tmp_path, code, os.ttyname(terminal)) as program:
        fd = program.number()
        found = the_one(program, "read")
    os.close(leader)
    os.close(terminal)
    assert (found.fd, found.sort) == (fd, "terminal")


def test_an_eventfd(tmp_path: Path) -> None:
    with started(tmp_path, "import os; fd = os.eventfd(0); say(fd); os.read(fd, 8)") as program:
        program.line()
        assert the_one(program, "read").sort == "eventfd"


def test_files_and_odd_descriptors(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9 [1] (deleted)")
    (tmp_path / name).touch()
    code = f"""
        import os
        say(os.open({name!r}, os.O_RDONLY), os.open("/dev/null", os.O_RDONLY), os.memfd_create("m"), os.pidfd_open(os.getpid()))
        input()
    """
    with started(tmp_path, code) as program:
        numbers = [int(word) for word in program.line()]
        probe = DescriptorProbe({})
        found = [probe.describe(program.pid, number) for number in numbers]
        assert [one.sort for one in found if one] == ["file", "null", "file", "other"]
        assert found[0] is not None
        assert found[0].path == str(tmp_path / name)
        assert found[0].filesystem
        assert probe.describe(program.pid, 999) is None


def test_ends_that_belong_to_a_process_that_is_gone(tmp_path: Path) -> None:
    with started(tmp_path, "say(1); input()") as program:
        program.line()
        program.process.kill()
        program.process.wait()
        assert DescriptorProbe({}).describe(program.pid, 0) is None
