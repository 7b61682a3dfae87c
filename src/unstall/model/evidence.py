"""The base class of evidence: what a probe saw, as plain data."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """One kind of evidence. A subclass names itself: `kind: ClassVar[str] = "locks"`."""

    kinds: ClassVar[dict[str, type[Evidence]]] = {}
    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.kind:
            Evidence.kinds[cls.kind] = cls
