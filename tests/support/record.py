"""Runs zoo programs and keeps what was seen of them: `python -m tests.support.record [name-part…]`.

A bundle is kept only if the diagnosis of the running program was right. Beside the bundles, `expected.json` says what
each of them must yield: the line is the one that the program had when it was recorded.
"""

from __future__ import annotations

import json
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec

from tests.support.table import observe, problems
from tests.support.zoo import ZOO, Program, programs
from unstall.model.diagnosis import Diagnosis
from unstall.model.finding import Confidence
from unstall.workflows.why import judge

BUNDLES = Path(__file__).parents[1] / "bundles"
EXPECTED = BUNDLES / "expected.json"
PROJECT = "/project"
PYTHON = "/python"
LARGEST_BYTES = 60_000
Expectation = dict[str, object]


def place(program: Program) -> Path:
    """Where a program's bundle is kept: in the folder of its cause."""
    return BUNDLES / (program.cause or "healthy") / f"{program.path.stem}.json"


def neutral(text: str) -> str:
    """The text without what is of this machine alone: its paths, its kernel."""
    text = text.replace(platform.platform(), platform.system())
    places = {str(ZOO.parents[2]): PROJECT, sys.prefix: PYTHON, sys.base_prefix: PYTHON, str(Path.home()): "/home/user"}
    for path in sorted(places, key=len, reverse=True):
        text = text.replace(path + "/", places[path] + "/")
    return text


def expectation(program: Program) -> Expectation:
    """What the bundle of a program must yield."""
    if program.cause is None:
        return {"cause": None, "verdicts": program.verdicts}
    guilty = [f"{neutral(file)}:{line}" for file, line in program.guilty]
    also = {"also": program.also} if program.also else {}
    return {"cause": program.cause, **also, "where": guilty, "sample": program.sample, "verdicts": program.verdicts}


def strangers(program: Program, diagnosis: Diagnosis) -> list[str]:
    """The other causes that a diagnosis is sure of."""
    return [
        f"also {one.cause}"
        for one in diagnosis.findings
        if one.cause not in (program.cause, *program.also) and one.confidence is not Confidence.POSSIBLE
    ]


def record(program: Program) -> tuple[Program, list[str], int]:
    """Run one program; keep its bundle if its diagnosis is right."""
    try:
        bundle = observe(program)
    except Exception as error:  # noqa: BLE001  one program that does not start must not end the others
        return program, [f"{type(error).__name__}: {str(error)[-300:]}"], 0
    diagnosis = judge(bundle)
    wrong = problems(program, diagnosis) + strangers(program, diagnosis)
    data = msgspec.json.format(neutral(bundle.encode().decode()).encode(), indent=-1) + b"\n"  # half as large
    if len(data) > LARGEST_BYTES:
        sizes = sorted(
            ((len(json.dumps(one)), kind) for kind, one in json.loads(data)["evidence"].items()), reverse=True
        )
        wrong.append(f"{len(data)} bytes: {sizes[:3]}")
    if not wrong:
        place(program).parent.mkdir(parents=True, exist_ok=True)
        place(program).write_bytes(data)
    return program, wrong, len(data)


def main() -> None:
    """Record the wanted programs, two at a time."""
    wanted = [one for one in programs() if not sys.argv[1:] or any(part in one.name for part in sys.argv[1:])]
    kept = 0
    with ProcessPoolExecutor(2) as pool:
        for program, wrong, size in pool.map(record, wanted):
            if not wrong:
                kept += 1
                _note(program)
            print(f"{'BAD' if wrong else 'ok '} {program.name:60} {size:6}  {'; '.join(wrong)}", flush=True)
    print(f"kept {kept} of {len(wanted)}")


def _note(program: Program) -> None:
    """Write down what a bundle must yield; drop the lines of bundles that are gone."""
    known: dict[str, Expectation] = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    known[str(place(program).relative_to(BUNDLES))] = expectation(program)
    rows = [f" {json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known) if (BUNDLES / name).exists()]
    EXPECTED.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
