"""Read the memory of a running process through /proc/<pid>/mem: no ptrace, no pause."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
MAX_READ = 64 << 20
CHUNK = 1 << 20
MAX_REGIONS = 200_000
_ADDRESS_LIMIT = 1 << 63
_PRESENT = 1 << 63  # of a pagemap entry

_U64 = struct.Struct("<Q")


class Unreadable(Exception):
    """The target could not be read.

    `reason` is one of a few fixed phrases ("permission", "gone", "not mapped", "free-threaded build", ...);
    the message adds what exactly was tried.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Region:
    """One line of /proc/<pid>/maps."""

    start: int
    end: int
    perms: str
    offset: int
    device: str
    inode: int
    path: str

    @property
    def size(self) -> int:
        """How many bytes it spans."""
        return self.end - self.start


class ProcessMemory:
    """The memory of one process; keeps /proc/<pid>/mem open until `close()`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._file = _open(pid, "mem")

    def __enter__(self) -> ProcessMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()

    def close(self) -> None:
        """Close the file; reads raise `Unreadable` afterwards."""
        descriptor, self._file = self._file, -1
        if descriptor >= 0:
            os.close(descriptor)

    def read(self, address: int, size: int) -> bytes:
        """Exactly `size` bytes at `address`."""
        data = self.read_some(address, size)
        if len(data) != size:
            raise Unreadable("not mapped", f"{size} bytes at {address:#x}")
        return data

    def read_some(self, address: int, size: int) -> bytes:
        """Up to `size` bytes at `address`: fewer where the mapping ends."""
        if not 0 < address < _ADDRESS_LIMIT - MAX_READ or not 0 <= size <= MAX_READ:
            raise Unreadable("not mapped", f"{size} bytes at {address:#x}")
        if self._file < 0:
            raise Unreadable("closed", f"memory of process {self.pid}")
        try:
            data = os.pread(self._file, size, address)
        except ProcessLookupError:
            raise Unreadable("gone", f"process {self.pid}") from None
        except PermissionError as error:
            raise Unreadable("permission", str(error)) from None
        except (OSError, OverflowError, MemoryError):
            raise Unreadable("not mapped", f"{size} bytes at {address:#x}") from None
        if not data and size:
            raise Unreadable("gone", f"process {self.pid} has ended or started another program")
        return data

    def u64(self, address: int) -> int:
        """The unsigned 64-bit word at `address`."""
        value: int = _U64.unpack(self.read(address, 8))[0]
        return value

    def i64(self, address: int) -> int:
        """The signed 64-bit word at `address`."""
        return int.from_bytes(self.read(address, 8), "little", signed=True)

    def u32(self, address: int) -> int:
        """The unsigned 32-bit word at `address`."""
        return int.from_bytes(self.read(address, 4), "little")

    def i32(self, address: int) -> int:
        """The signed 32-bit word at `address`."""
        return int.from_bytes(self.read(address, 4), "little", signed=True)

    def u8(self, address: int) -> int:
        """The byte at `address`."""
        return self.read(address, 1)[0]

    def u64s(self, address: int, count: int) -> tuple[int, ...]:
        """`count` consecutive 64-bit words."""
        return struct.unpack(f"<{count}Q", self.read(address, 8 * count))

    def cstring(self, address: int, limit: int = 256) -> str:
        """The NUL-terminated string at `address`, cut at `limit` bytes."""
        return self.read_some(address, min(limit, MAX_READ)).partition(b"\0")[0].decode("utf-8", "replace")

    def regions(self) -> tuple[Region, ...]:
        """The mapped regions, lowest address first."""
        with os.fdopen(_open(self.pid, "maps"), "rb") as file:
            try:
                lines = file.read(MAX_READ).decode("utf-8", "surrogateescape").rstrip("\n").split("\n")
            except OSError as error:
                raise Unreadable("gone", str(error)) from None
        if lines == [""]:
            raise Unreadable("gone", f"process {self.pid} has no memory map")
        return tuple(_parse_region(line) for line in lines[:MAX_REGIONS])

    def find(self, pattern: bytes, regions: Iterable[Region], limit_bytes: int, alignment: int = 8) -> Iterator[int]:
        """Addresses where `pattern` stands, in the pages of `regions` that are in memory.

        A match across the border of two chunks is found; at most `limit_bytes` are read.
        """
        left = limit_bytes
        overlap = max(len(pattern) - 1, 0)
        for start, end in self._present(regions):
            position = start
            while position < end and left > 0:
                size = min(CHUNK, end - position, left)
                left -= size
                try:
                    data = self.read_some(position, min(size + overlap, end - position))
                except Unreadable as error:
                    if error.reason != "not mapped":
                        raise
                    break
                for index in _matches(data, pattern, size):
                    if (position + index) % alignment == 0:
                        yield position + index
                position += size

    def _present(self, regions: Iterable[Region]) -> Iterator[tuple[int, int]]:
        """The spans of `regions` whose pages are present; whole regions where that can't be told."""
        try:
            pagemap = _open(self.pid, "pagemap")
        except Unreadable:
            yield from ((region.start, region.end) for region in regions)
            return
        try:
            for region in regions:
                yield from _present_spans(pagemap, region)
        finally:
            os.close(pagemap)


def _open(pid: int, name: str) -> int:
    path = f"/proc/{pid}/{name}"
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        raise Unreadable("permission", path) from None
    except (FileNotFoundError, ProcessLookupError):
        raise Unreadable("gone", path) from None
    except OSError as error:
        raise Unreadable("unreadable", f"{path}: {error}") from None


def _parse_region(line: str) -> Region:
    fields = line.split(maxsplit=5)
    start, _, end = fields[0].partition("-")
    path = fields[5] if len(fields) > 5 else ""
    return Region(int(start, 16), int(end, 16), fields[1], int(fields[2], 16), fields[3], int(fields[4]), path)


def _matches(data: bytes, pattern: bytes, size: int) -> Iterator[int]:
    index = data.find(pattern) if pattern else -1
    while 0 <= index < size:
        yield index
        index = data.find(pattern, index + 1)


def _present_spans(pagemap: int, region: Region) -> Iterator[tuple[int, int]]:
    pages_per_read = CHUNK // 8
    begin: int | None = None
    for first in range(region.start, region.end, PAGE * pages_per_read):
        count = min(pages_per_read, (region.end - first) // PAGE)
        try:
            data = os.pread(pagemap, 8 * count, first // PAGE * 8)
        except OSError:
            data = b""
        if len(data) < 8 * count:
            yield first if begin is None else begin, region.end
            return
        for index, (entry,) in enumerate(_U64.iter_unpack(data)):
            address = first + index * PAGE
            if entry & _PRESENT:
                begin = address if begin is None else begin
            elif begin is not None:
                yield begin, address
                begin = None
    if begin is not None:
        yield begin, region.end
