"""Find symbols of a running process's program and libraries.

The symbol table that the dynamic linker itself uses is in the process's memory: it is right even if the file
was deleted, replaced or lies in another container. A symbol that is not exported is looked up in the file.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from .memory import ProcessMemory, Region, Unreadable

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_GNU_HASH = 4, 5, 6, 0x6FFFFEF5
_SHT_SYMTAB, _SHT_DYNSYM = 2, 11
_SYMBOL = struct.Struct("<IBBHQQ")
_MAX_HEADERS = 256
_MAX_CHAIN = 10_000
_MAX_FILE = 512 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """One mapped ELF file: where it was loaded, and its program headers (type, offset, address, size)."""

    region: Region
    bias: int
    headers: tuple[tuple[int, int, int, int], ...]


def find_symbols(memory: ProcessMemory, names: tuple[str, ...]) -> dict[str, int]:
    """Addresses of all of `names`, from the first mapped file that defines the first of them.

    The program and files named like Python come first. Raises `Unreadable` if there is none.
    """
    regions = memory.regions()
    candidates = list(_candidates(memory, regions))
    for lookup in (_exported, _in_file):
        for region in candidates:
            try:
                image = _image(memory, region)
                if lookup is _in_file and not _looks_like_python(memory, region):
                    continue
                found = {name: lookup(memory, image, name) for name in names}
            except Unreadable as error:
                if error.reason in ("permission", "gone"):
                    raise
                continue
            if found[names[0]] is not None:
                return {name: address for name, address in found.items() if address is not None}
    raise Unreadable("not Python", f"no {names[0]} in the files mapped by process {memory.pid}")


def _candidates(memory: ProcessMemory, regions: tuple[Region, ...]) -> Iterator[Region]:
    """The first mapping of each file that may be an ELF file, the likely ones first."""
    firsts: dict[tuple[str, int], Region] = {}
    for region in regions:
        if region.inode and region.offset == 0 and region.perms.startswith("r"):
            firsts.setdefault((region.device, region.inode), region)
    executable = {(r.device, r.inode) for r in regions if "x" in r.perms and r.inode}
    mapped = [region for key, region in firsts.items() if key in executable]
    program = _program_inode(memory)
    yield from sorted(mapped, key=lambda r: (r.inode != program, "python" not in os.path.basename(r.path)))


def _program_inode(memory: ProcessMemory) -> int:
    try:
        return os.stat(f"/proc/{memory.pid}/exe").st_ino
    except OSError:
        return 0


def _looks_like_python(memory: ProcessMemory, region: Region) -> bool:
    return "python" in os.path.basename(region.path) or region.inode == _program_inode(memory)


def _image(memory: ProcessMemory, region: Region) -> Image:
    header = memory.read(region.start, 64)
    if header[:6] != b"\x7fELF\x02\x01":
        raise Unreadable("not ELF", region.path)
    table, entry_size, count = int.from_bytes(header[32:40], "little"), *struct.unpack_from("<HH", header, 54)
    if entry_size != 56 or count > _MAX_HEADERS:
        raise Unreadable("not ELF", region.path)
    data = memory.read(region.start + table, entry_size * count)
    headers = []
    for index in range(count):
        kind, _, offset, address, _, _, size, _ = struct.unpack_from("<IIQQQQQQ", data, index * entry_size)
        headers.append((kind, offset, address, size))
    loads = [address - offset for kind, offset, address, _ in headers if kind == _PT_LOAD]
    if not loads:
        raise Unreadable("not ELF", region.path)
    return Image(region, region.start - loads[0], tuple(headers))


def _exported(memory: ProcessMemory, image: Image, name: str) -> int | None:
    """The address of an exported symbol, by the hash table that the dynamic linker uses."""
    tags = _dynamic(memory, image)
    if _DT_GNU_HASH not in tags or _DT_SYMTAB not in tags or _DT_STRTAB not in tags:
        return None
    symbols, strings, table = tags[_DT_SYMTAB], tags[_DT_STRTAB], tags[_DT_GNU_HASH]
    bucket_count, first, bloom_words, _ = struct.unpack("<IIII", memory.read(table, 16))
    if not bucket_count or bloom_words > 1 << 20:
        return None
    wanted = _gnu_hash(name)
    buckets = table + 16 + 8 * bloom_words
    chains = buckets + 4 * bucket_count
    begin = memory.u32(buckets + 4 * (wanted % bucket_count))
    if begin < first:
        return None
    for index in range(begin, begin + _MAX_CHAIN):
        hashed = memory.u32(chains + 4 * (index - first))
        if (hashed ^ wanted) >> 1 == 0:
            label, _, _, section, value, _ = _SYMBOL.unpack(memory.read(symbols + 24 * index, 24))
            if section and memory.cstring(strings + label, len(name) + 1) == name:
                return int(value) + image.bias
        if hashed & 1:
            return None
    return None


def _dynamic(memory: ProcessMemory, image: Image) -> dict[int, int]:
    for kind, _, address, size in image.headers:
        if kind == _PT_DYNAMIC:
            data = memory.read(image.bias + address, min(size, 16 * 512) // 16 * 16)
            pairs = dict(struct.iter_unpack("<QQ", data))
            # glibc writes absolute addresses here, musl leaves those of the file.
            tables = (_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_GNU_HASH)
            return {
                tag: value + (image.bias if value < image.bias else 0) for tag, value in pairs.items() if tag in tables
            }
    return {}


def _gnu_hash(name: str) -> int:
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _in_file(memory: ProcessMemory, image: Image, name: str) -> int | None:
    """The address of a symbol that is only in the file's .symtab."""
    with open_mapped(memory.pid, image.region) as file:
        header = os.pread(file.fileno(), 64, 0)
        if header[:6] != b"\x7fELF\x02\x01":
            return None
        table = int.from_bytes(header[40:48], "little")
        count = int.from_bytes(header[60:62], "little")
        data = os.pread(file.fileno(), 64 * count, table)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, at) for at in range(0, len(data) - 63, 64)]
        for section in sections:
            if section[1] in (_SHT_SYMTAB, _SHT_DYNSYM) and section[6] < len(sections):
                value = _scan_symbols(file.fileno(), section, sections[section[6]], name)
                if value is not None:
                    return value + image.bias
    return None


def _scan_symbols(file: int, section: tuple[int, ...], strings: tuple[int, ...], name: str) -> int | None:
    if section[5] > _MAX_FILE or strings[5] > _MAX_FILE:
        return None
    labels = os.pread(file, strings[5], strings[4])
    at = labels.find(b"\0" + name.encode() + b"\0") + 1
    if not at:
        return None
    table = os.pread(file, section[5], section[4])
    for label, _, _, where, value, _ in _SYMBOL.iter_unpack(table[: len(table) // 24 * 24]):
        if label == at and where:
            return int(value)
    return None


def open_mapped(pid: int, region: Region) -> BinaryIO:
    """Open the file behind `region`, also from another container or after it was deleted."""
    paths = (
        f"/proc/{pid}/map_files/{region.start:x}-{region.end:x}",
        f"/proc/{pid}/exe",
        f"/proc/{pid}/root{region.path}",
    )
    for path in paths:
        try:
            if os.stat(path).st_ino == region.inode:
                return open(path, "rb")
        except OSError:
            continue
    raise Unreadable("no file", region.path)
