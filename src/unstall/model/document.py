"""Plain data as a JSON document. File names need not be UTF-8, but JSON must be; numbers may have many digits."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec


def encode(value: object) -> bytes:
    """The value as JSON; what is no UTF-8 in a name is replaced."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):  # msgspec writes no numbers of more than 64 bits, but reads them
        mended = _mended(msgspec.to_builtins(value, str_keys=True))
        return json.dumps(mended, ensure_ascii=False, separators=(",", ":")).encode()


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_mended(key): _mended(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value  # as msgspec does
