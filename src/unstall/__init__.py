"""unstall finds out why PyTorch training is stuck, says so in plain words with proof, and gets it moving again.

    import unstall
    diagnosis = unstall.diagnose(4711)             # a process number, a saved bundle, or a Bundle
    print(diagnosis.verdict, diagnosis.findings)

A map of the package, from the outside in. Each layer knows only the ones below it:

cli/         the commands, one file each: why, run, explain, demo, check
workflows/   what a command does: collect evidence, diagnose it, hand it on
reports/     a diagnosis as text for a terminal, or as JSON
engine/      the wait graph, and from evidence to a diagnosis (pure functions)
causes/      the catalogue: one file per cause, which is also the cause's page
probes/      collect evidence: read /proc and the memory of running Pythons, pause nobody
agent/       what `unstall run` puts into the training's processes: beats and last words
flight/      the record that they write, readable when they are stuck or dead
evidence/    what can be known about a training: plain data
model/       Finding, Diagnosis, Bundle, Cause, WaitGraph: the vocabulary
errors.py    the errors that are shown to people, each with a hint
zoo/         programs that get stuck on purpose, one per cause, and healthy ones

Public names are imported when they are first used (PEP 562), so `import unstall` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` for it would cost more than all the rest
if TYPE_CHECKING:
    from unstall.errors import UnstallError as UnstallError
    from unstall.model.bundle import Bundle as Bundle
    from unstall.model.diagnosis import Diagnosis as Diagnosis
    from unstall.model.finding import Confidence as Confidence
    from unstall.model.finding import Finding as Finding
    from unstall.workflows.why import diagnose as diagnose

_HOMES = {
    "Bundle": "unstall.model.bundle",
    "Confidence": "unstall.model.finding",
    "Diagnosis": "unstall.model.diagnosis",
    "Finding": "unstall.model.finding",
    "UnstallError": "unstall.errors",
    "diagnose": "unstall.workflows.why",
}

__all__ = ["Bundle", "Confidence", "Diagnosis", "Finding", "UnstallError", "diagnose"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'unstall' has no attribute {name!r}")
    import importlib

    found: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
