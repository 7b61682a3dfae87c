"""A short digest of a worker's first batches: do all workers yield the same ones?"""

from __future__ import annotations

import zlib

from ..flight import layout

MYPY = False
if MYPY:
    from typing import Any

MOST_NUMBERS = 1024  # of one tensor, spread over all of it
MOST_PARTS = 64
DEEPEST = 6


def note_first(slots: memoryview, data: Any) -> None:
    """Keep the digest of one of the first batches of a worker."""
    try:
        if slots[layout.ROLE] == layout.WORKER:
            slots[layout.FIRST_BATCHES + slots[layout.BATCHES]] = digest(data)
    except Exception:  # noqa: BLE001  a tensor of a kind that can't be read
        pass


def digest(data: Any) -> int:
    """A number that equal batches have in common; 0 for what can't be compared."""
    parts: list[str] = []
    return zlib.crc32("\n".join(parts).encode("utf-8", "replace")) | 1 << 40 if _collect(data, parts, 0) else 0


def _collect(data: Any, parts: list[str], depth: int) -> bool:
    """Add what a batch consists of; whether all of it could be read."""
    if depth > DEEPEST:
        return False
    if data is None or isinstance(data, int | float | str | bytes):
        parts.append(f"{type(data).__name__} {data!r:.4000}")
        return True
    if isinstance(data, dict):
        parts.append(f"dict {len(data)}")
        return all(_collect(key, parts, depth + 1) and _collect(data[key], parts, depth + 1) for key in data)
    if isinstance(data, list | tuple):
        parts.append(f"list {len(data)}")
        return all(_collect(one, parts, depth + 1) for one in data[:MOST_PARTS])
    if getattr(getattr(data, "device", None), "type", "cpu") != "cpu":
        return False
    if hasattr(data, "tolist") and hasattr(data, "shape"):
        flat = data.reshape(-1)
        parts.append(f"{data.dtype} {tuple(data.shape)} {flat[:: max(1, len(flat) // MOST_NUMBERS)].tolist()}")
        return True
    return False
