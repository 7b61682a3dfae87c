"""A diagnosis as JSON. Its schema is published next to this file; `python -m unstall.reports.json_report` prints it.

Within one schema version things are only added. Readers must ignore what they do not know.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from unstall.model.diagnosis import SCHEMA, Diagnosis
from unstall.model.document import encode
from unstall.model.finding import Finding

CHECK_SCHEMA = "unstall.check/1"
_ALWAYS = {  # written even when empty, so a reader may rely on them
    "Diagnosis": ("schema", "target", "verdict", "summary", "findings", "chain", "unexamined", "took_s"),
}


def render(diagnosis: Diagnosis, *, compact: bool = False) -> str:
    """The diagnosis as JSON: indented, or on one line."""
    return _text(diagnosis, compact=compact)


def render_findings(findings: Iterable[Finding]) -> str:
    """The findings of `unstall check` as JSON."""
    return _text({"schema": CHECK_SCHEMA, "findings": list(findings)}, compact=False)


def schema() -> dict[str, Any]:
    """The JSON Schema of a diagnosis."""
    made = msgspec.json.schema(Diagnosis)
    for name, fields in _ALWAYS.items():
        made["$defs"][name]["required"] = list(fields)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('/', ':')}",
        "title": SCHEMA,
        **made,
    }


def _text(value: object, *, compact: bool) -> str:
    data = encode(value)
    return (data if compact else msgspec.json.format(data, indent=2)).decode() + "\n"


def print_schema() -> None:
    """Write the schema to stdout, as it is published."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n")


if __name__ == "__main__":
    print_schema()
