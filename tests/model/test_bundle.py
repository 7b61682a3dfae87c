"""Bundles from anywhere: a damaged or hostile one is refused or diagnosed, and never breaks anything."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.evidence_of_any_kind import any_evidence
from tests.support.record import BUNDLES
from unstall.errors import BadBundle
from unstall.evidence.processes import Process, Processes
from unstall.evidence.threads import Reading, Thread, Threads
from unstall.model.bundle import LARGEST_BYTES, SCHEMA, Bundle, decode
from unstall.model.diagnosis import Target, Unexamined
from unstall.model.evidence import Evidence
from unstall.reports import json_report, terminal
from unstall.workflows.why import judge, read

RECORDED = sorted(BUNDLES.glob("*/*.json"))
EMPTY: dict[str, Any] = {"schema": SCHEMA, "target": {"pid": 1, "command": "python train.py"}, "evidence": {}}
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
junk = st.recursive(
    scalars, lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=8), one, max_size=3)
)


def survive(data: bytes) -> Bundle | None:
    """Refuse the bundle, or diagnose it and write both reports. Anything else is raised to the test."""
    try:
        bundle = decode(data)
    except BadBundle as error:
        complaint = error
    else:
        return _report(bundle)
    assert complaint.message
    assert complaint.hint or "bytes" in complaint.message
    return None


def _report(bundle: Bundle) -> Bundle:
    diagnosis = judge(bundle)
    assert terminal.render(diagnosis)
    assert json.loads(json_report.render(diagnosis))["schema"] == "unstall.diagnosis/1"
    return bundle


@PATIENT
@given(any_evidence())
def test_evidence_of_every_kind_comes_back_as_it_was(evidence: Evidence) -> None:
    bundle = Bundle(
        Target(7, "python train.py"), {evidence.kind: evidence}, (Unexamined("a", "b", "c"),), 1.5, {"a": "b"}
    )
    assert decode(bundle.encode()) == bundle


@PATIENT
@given(any_evidence())
def test_any_evidence_gets_a_diagnosis(evidence: Evidence) -> None:
    bundle = Bundle(Target(7, "python train.py"), {evidence.kind: evidence})
    assert survive(bundle.encode())


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_bundle_comes_back_as_it_was(path: Path) -> None:
    bundle = read(path)
    assert decode(bundle.encode()) == bundle
    assert set(bundle.evidence) <= set(Evidence.kinds)


def test_names_that_are_no_utf8_can_be_saved() -> None:
    process = Process(7, 1, "caf\udce9", "python caf\udce9.py", "S")
    data = Bundle(Target(7, "python caf\udce9.py"), {"processes": Processes(7, (process,))}).encode()
    found = survive(data)
    assert found is not None
    assert found.target.command == "python caf?.py"


def test_numbers_that_are_too_large_can_be_saved() -> None:
    reading = Reading(at_s=0.0, state="S", syscall="read", arguments=(2**64 - 1, 1 << 70))
    thread = Thread(7, 7, "python", (reading,))
    bundle = Bundle(Target(7, "python"), {"threads": Threads((thread,))})
    assert survive(bundle.encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b"\xff\xfe\x00",
        b"\x00" * 100,
        b"[" * 100_000,
        b'{"schema":' * 50_000,
        json.dumps({**EMPTY, "schema": "unstall.bundle/2"}).encode(),
        json.dumps({**EMPTY, "schema": "unstall.diagnosis/1"}).encode(),
        json.dumps({**EMPTY, "schema": 7}).encode(),
        json.dumps({**EMPTY, "evidence": []}).encode(),
        json.dumps({**EMPTY, "evidence": {"threads": {"all": 7}}}).encode(),
        json.dumps({**EMPTY, "evidence": {"threads": {"all": [{}]}}}).encode(),
        json.dumps({**EMPTY, "evidence": {"processes": {"root": float("nan")}}}).encode(),
        json.dumps({**EMPTY, "evidence": {"processes": {"root": 7.5}}}).encode(),
        json.dumps({**EMPTY, "evidence": {"processes": {"root": "DIGITS"}}}).encode().replace(b'"DIGITS"', b"9" * 5000),
        json.dumps({**EMPTY, "evidence": {"threads": {"span_s": 1e999}}}).encode(),
        json.dumps({**EMPTY, "target": None}).encode(),
        json.dumps({**EMPTY, "took_s": "soon"}).encode(),
    ],
)
def test_what_is_no_bundle_is_refused(data: bytes) -> None:
    with pytest.raises(BadBundle):
        decode(data)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(BadBundle, match="larger"):
        read(path)
    with pytest.raises(BadBundle, match="bytes"):
        decode(bytes(LARGEST_BYTES + 1))


def test_unknown_evidence_is_left_out_and_said() -> None:
    bundle = decode(json.dumps({**EMPTY, "evidence": {"tea-leaves": {"cups": 3}, "x" * 500: 1}}).encode())
    assert bundle.evidence == {}
    assert [len(one.what) < 80 for one in bundle.unexamined] == [True, True]
    assert "tea-leaves" in bundle.unexamined[0].what
    assert survive(bundle.encode())


def test_deep_nesting_inside_evidence() -> None:
    data = json.dumps({**EMPTY, "evidence": {"processes": {"root": 1, "all": "DEEP"}}}).encode()
    survive(data.replace(b'"DEEP"', b"[" * 5000 + b"]" * 5000))
    survive(
        json.dumps({**EMPTY, "evidence": {"tea-leaves": "DEEP"}}).encode().replace(b'"DEEP"', b"[" * 5000 + b"]" * 5000)
    )


def test_numbers_of_many_digits() -> None:
    data = json.dumps({**EMPTY, "evidence": {"processes": {"root": 10**400}, "threads": {"span_s": 10**300}}}).encode()
    assert survive(data)


def places(here: Any, way: tuple[object, ...] = ()) -> Iterator[tuple[Any, Any, tuple[object, ...]]]:
    """Every place of a document: what holds it, its key, and its way from the top without the numbers in lists."""
    for key, below in list(here.items()) if isinstance(here, dict) else list(enumerate(here)):
        step = key if isinstance(here, dict) else "[]"
        yield here, key, (*way, step)
        if isinstance(below, dict | list):
            yield from places(below, (*way, step))


@pytest.mark.parametrize(
    "slug", ["lock-self-deadlock", "infinite-loop-in-getitem", "network-read-no-timeout", "file-lock-held"]
)
def test_whatever_is_missing_or_empty(slug: str) -> None:
    """Leave out each sort of value of a real bundle, one after the other, and empty it."""
    whole = (BUNDLES / slug / f"{slug.replace('-', '_')}.json").read_bytes()
    ways = dict.fromkeys(way for _, _, way in places(json.loads(whole)))
    for way in ways:
        for empty in (False, True):
            document = json.loads(whole)
            for here, key, found in [one for one in places(document) if one[2] == way]:
                assert found == way
                if not empty:
                    here.pop(key if isinstance(here, dict) else 0)
                elif isinstance(here[key], dict | list | str | int | float):
                    here[key] = type(here[key])()
            survive(json.dumps(document).encode())


def test_code_that_can_not_be_parsed() -> None:
    """Text that makes Python's parser give up, in a bundle whose stack points at it."""
    path = next(one for one in RECORDED if "infinite-loop-in-getitem" in str(one))
    for text in (
        "x = " + "(" * 3000,
        "if x:\n" * 200,
        "\0",
        "while True: pass\n" * 20_000,
        "a." * 20_000 + "b",
        "def f(:",
    ):
        document = json.loads(path.read_bytes())
        for function in document["evidence"]["code"]["all"]:
            function["text"] = text
        assert survive(json.dumps(document).encode())


@PATIENT
@given(st.binary(max_size=400))
def test_random_bytes(data: bytes) -> None:
    assert survive(data) is None


@settings(PATIENT, max_examples=40)
@given(st.sampled_from(RECORDED), st.data())
def test_a_cut_bundle_is_refused(path: Path, data: st.DataObject) -> None:
    whole = path.read_bytes().rstrip()
    assert survive(whole[: data.draw(st.integers(0, len(whole) - 1))]) is None


@settings(PATIENT, max_examples=60)
@given(st.sampled_from(RECORDED), st.integers(0, 2**32), st.binary(min_size=1, max_size=3))
def test_a_bundle_with_flipped_bytes(path: Path, seed: int, piece: bytes) -> None:
    data = bytearray(path.read_bytes())
    place = random.Random(seed).randrange(len(data))
    data[place : place + len(piece)] = piece
    survive(bytes(data))


@settings(PATIENT, max_examples=250)
@given(
    st.sampled_from(RECORDED),
    st.integers(0, 2**32),
    st.lists(st.sampled_from(["drop", "empty", "twice", "junk"]), min_size=1, max_size=5),
    junk,
)
def test_a_bundle_with_changed_values(path: Path, seed: int, changes: list[str], value: Any) -> None:
    document = json.loads(path.read_bytes())
    chance = random.Random(seed)
    for change in changes:
        alter(document, change, value, chance)
    try:
        data = msgspec.json.encode(document)
    except (OverflowError, UnicodeEncodeError):
        data = json.dumps(document).encode()
    survive(data)


def alter(document: dict[str, Any], change: str, value: Any, chance: random.Random) -> None:
    """Change one place of a document, found by walking down from its top."""
    here: Any = document["evidence"]
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = chance.choice(keys)
        below = here[key]
        if not isinstance(below, dict | list) or not below or chance.random() < 0.1:
            break
        here = below
    if change == "drop":
        del here[key]
    elif change == "empty":
        here[key] = type(below)() if below is not None else 0
    elif change == "twice" and isinstance(here, list):
        here.append(below)
    else:
        here[key] = like(below, copy.deepcopy(value), chance)


def like(below: Any, value: Any, chance: random.Random) -> Any:
    """A value that may pass for the old one: so that the change gets past the check of types."""
    if isinstance(below, bool):
        return not below
    if isinstance(below, int):
        return chance.choice([0, -1, 1, below + 1, -below, 1 << 31, 1 << 63, 1 << 70])
    if isinstance(below, float):
        return chance.choice([0.0, -1.0, 1e308, 1e-308, below * 1e6])
    if isinstance(below, str):
        return chance.choice(["", "\0", ":", "object ", "a" * 2000, "\u202e", below[::-1], below.upper()])
    return value
