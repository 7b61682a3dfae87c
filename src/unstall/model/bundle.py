"""A bundle: the evidence of one moment in one JSON document. Reading one runs nothing."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from unstall.errors import BadBundle
from unstall.model.diagnosis import Target, Unexamined
from unstall.model.document import encode
from unstall.model.evidence import Evidence

SCHEMA = "unstall.bundle/1"
LARGEST_BYTES = 64 * 1024 * 1024
E = TypeVar("E", bound=Evidence)


class Bundle(msgspec.Struct, frozen=True):
    """All evidence about one target, each kind at most once."""

    target: Target
    evidence: dict[str, Evidence]
    unexamined: tuple[Unexamined, ...] = ()
    took_s: float = 0.0
    machine: dict[str, str] = {}

    def get(self, kind: type[E]) -> E | None:
        """The evidence of that kind, if it was collected."""
        found = self.evidence.get(kind.kind)
        return found if isinstance(found, kind) else None

    def having(self, one: Evidence) -> Bundle:
        """The same bundle with other evidence of one kind."""
        return msgspec.structs.replace(self, evidence={**self.evidence, one.kind: one})

    def encode(self) -> bytes:
        """The bundle as indented JSON."""
        document = {"schema": SCHEMA, **msgspec.structs.asdict(self)}
        return msgspec.json.format(encode(document), indent=1)


class _Document(msgspec.Struct):
    schema: str
    target: Target
    evidence: dict[str, msgspec.Raw]
    unexamined: tuple[Unexamined, ...] = ()
    took_s: float = 0.0
    machine: dict[str, str] = {}


def decode(data: bytes) -> Bundle:
    """Read a bundle. Everything in it is checked; nothing in it is run."""
    if len(data) > LARGEST_BYTES:
        raise BadBundle(f"the bundle has {len(data)} bytes, more than {LARGEST_BYTES}")
    try:
        document = msgspec.json.decode(data, type=_Document)
        if document.schema != SCHEMA:
            raise BadBundle(
                f"this is no bundle: its schema is {document.schema[:60]!r}, not {SCHEMA!r}",
                hint="save one with `unstall why PID --save FILE`",
            )
        evidence: dict[str, Any] = {
            kind: msgspec.json.decode(raw, type=Evidence.kinds[kind])
            for kind, raw in document.evidence.items()
            if kind in Evidence.kinds
        }
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadBundle(
            f"the bundle can't be read: {error}",
            hint="it may be cut short or edited; save it again with `unstall why PID --save FILE`",
        ) from error
    strangers = tuple(
        Unexamined(f"evidence {kind[:60]!r}", "this version of unstall does not know it", "update unstall")
        for kind in document.evidence
        if kind not in Evidence.kinds
    )
    return Bundle(
        target=document.target,
        evidence=evidence,
        unexamined=document.unexamined + strangers,
        took_s=document.took_s,
        machine=document.machine,
    )
