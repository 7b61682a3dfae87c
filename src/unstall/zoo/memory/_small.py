"""Makes memory small for one program: a memory group with a limit, or a small /dev/shm that only it sees."""

import contextlib
import ctypes
import os
import sys

_NEW_MOUNTS, _PRIVATE, _ALL = 0x20000, 1 << 18, 1 << 14


def shared_memory(mebibytes):
    """Mount a small /dev/shm in a mount namespace of this process. Needs to be root."""
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.unshare(_NEW_MOUNTS) or libc.mount(None, b"/", None, _PRIVATE | _ALL, None)
    if failed or libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, f"size={mebibytes}m".encode()):
        sys.exit(f"no small /dev/shm here: {os.strerror(ctypes.get_errno())}")


def memory(mebibytes):
    """Move this process into a memory group with a limit. Needs to be root."""
    for group, limit in (
        ("/sys/fs/cgroup/memory/unstall-zoo", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup/unstall-zoo", "memory.max"),
    ):
        with contextlib.suppress(OSError):
            os.makedirs(group, exist_ok=True)
            for name, text in ((limit, str(mebibytes << 20)), ("cgroup.procs", str(os.getpid()))):
                with open(os.path.join(group, name), "w") as file:
                    file.write(text)
            return
    sys.exit("no memory group can be made here")
