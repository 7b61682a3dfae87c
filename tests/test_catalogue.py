"""The catalogue as a whole: every cause has a page, a program, and bundles that yield it and nothing else."""

from __future__ import annotations

import collections
import functools
import inspect
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.record import BUNDLES, EXPECTED, LARGEST_BYTES, PROJECT, PYTHON, Expectation, expectation, place
from tests.support.zoo import ZOO, programs
from unstall import causes
from unstall.evidence.stacks import Stacks
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Verdict
from unstall.model.evidence import Evidence
from unstall.model.finding import Confidence
from unstall.workflows.why import judge, read

SECTIONS = ["What happens", "How to recognise it", "Example", "Use instead"]
MODULES = causes.modules()
EXPECTATIONS: dict[str, Expectation] = json.loads(EXPECTED.read_text())
STALLED = sorted(name for name, one in EXPECTATIONS.items() if one["cause"])
HEALTHY = sorted(name for name, one in EXPECTATIONS.items() if not one["cause"])

each_cause = pytest.mark.parametrize("slug", MODULES)


@functools.cache
def bundle(name: str) -> Bundle:
    return read(BUNDLES / name)


@functools.cache
def diagnosis(name: str) -> Diagnosis:
    return judge(bundle(name))


def family(module: ModuleType) -> str:
    return module.__name__.split(".")[-2]


@each_cause
def test_the_page_is_complete(slug: str) -> None:
    page = inspect.cleandoc(MODULES[slug].__doc__ or "")
    first, _, rest = page.partition("\n")
    assert re.fullmatch(r"[A-Z`].{10,110}\.", first), "the first line is a sentence"
    assert rest.startswith("\n"), "and stands alone"
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == SECTIONS
    parts = re.split(r"^## .+$", page, flags=re.MULTILINE)[1:]
    assert all(len(part.strip()) > 20 for part in parts), "every section says something"
    assert page.count("```") % 2 == 0
    assert "```" in parts[2], "the example is code"
    assert max(len(line) for line in page.splitlines()) <= 120


@each_cause
def test_the_cause_is_complete(slug: str) -> None:
    module = MODULES[slug]
    cause = module.cause
    assert cause.slug == slug
    assert module.__name__.rsplit(".", 1)[-1] == slug.replace("-", "_")
    assert re.fullmatch(r"[A-Z`].{8,78}[^.]", cause.title), "a title is a sentence without a full stop"
    assert cause.remedies
    assert cause.detectors
    for remedy in cause.remedies:
        assert remedy.action[:1].isupper()
        assert not remedy.action.endswith(".")
    for detector in cause.detectors:
        assert detector.needs
        assert all(issubclass(need, Evidence) and need.kind for need in detector.needs)
        assert detector.function.__doc__


def test_titles_and_names_are_different() -> None:
    assert len({module.cause.title for module in MODULES.values()}) == len(MODULES)
    assert len({module.__name__.rsplit(".", 1)[-1] for module in MODULES.values()}) == len(MODULES)


@each_cause
def test_its_zoo_program_exists(slug: str) -> None:
    path = ZOO / family(MODULES[slug]) / f"{slug.replace('-', '_')}.py"
    assert path.exists()
    assert slug in {one.cause for one in programs() if one.path == path}


def test_every_program_is_of_a_cause_and_says_where_it_stalls() -> None:
    for program in programs():
        if program.cause is None:
            assert program.path.parent.name == "healthy", program.name
            assert program.verdicts, program.name
            assert set(program.verdicts) <= set(Verdict), program.name
        else:
            assert program.cause in MODULES, f"{program.name}: no cause {program.cause} in the catalogue"
            assert program.guilty, f"{program.name}: no line is marked"


@each_cause
def test_it_was_recorded(slug: str) -> None:
    assert any(EXPECTATIONS[name]["cause"] == slug for name in STALLED), f"make record NAME={slug.replace('-', '_')}"


@pytest.mark.parametrize("name", STALLED)
def test_a_bundle_yields_its_cause_line_and_sample(name: str) -> None:
    expected, found = EXPECTATIONS[name], diagnosis(name)
    assert found.verdict in (expected.get("verdicts") or [Verdict.STALLED])  # type: ignore[operator]
    first = found.findings[0]
    assert first.cause == expected["cause"]
    assert first.confidence is not Confidence.POSSIBLE or found.verdict is Verdict.SLOW  # too early to be sure
    assert f"{first.where[0].file}:{first.where[0].line}" in expected["where"]  # type: ignore[operator]
    if expected["sample"] is not None:
        assert first.sample == expected["sample"]
    assert first.because
    assert first.remedies
    assert found.unexamined == bundle(name).unexamined


def test_no_cause_is_taken_for_another() -> None:
    """Nothing but the bundle's own cause is more than `possible`: in stalled trainings, and in healthy ones."""
    confusion: collections.Counter[tuple[str, str]] = collections.Counter()
    for name in [*STALLED, *HEALTHY]:
        sure = {one.cause for one in diagnosis(name).findings if one.confidence is not Confidence.POSSIBLE}
        if name in STALLED and diagnosis(name).verdict is Verdict.SLOW:
            sure |= {diagnosis(name).findings[0].cause}  # which is sure of its cause only after a minute
        known = EXPECTATIONS[name]
        sure -= {*known.get("also", ())} - {known["cause"]}  # type: ignore[misc]
        confusion.update((str(known["cause"]), cause) for cause in sure or {"None"})
    wrong = {pair for pair in confusion if pair[0] != pair[1]}
    rows = [
        f"{'WRONG' if pair in wrong else 'right'} {pair[0]:36} → {pair[1]:36} {confusion[pair]}" for pair in confusion
    ]
    assert not wrong, "\n" + "\n".join(sorted(rows))


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_bundle_yields_nothing(name: str) -> None:
    assert diagnosis(name).verdict in EXPECTATIONS[name]["verdicts"]  # type: ignore[operator]
    assert [one.cause for one in diagnosis(name).findings if one.confidence is not Confidence.POSSIBLE] == []


def test_bundles_are_what_the_zoo_promises() -> None:
    """What was expected when a bundle was recorded is what its program says today; its lines may have moved."""
    zoo = {str(place(one).relative_to(BUNDLES)): expectation(one) for one in programs()}
    kept = {str(path.relative_to(BUNDLES)) for path in BUNDLES.glob("*/*.json")}
    assert kept == set(EXPECTATIONS), "each bundle has its line in expected.json"
    for name, expected in EXPECTATIONS.items():
        today = json.loads(json.dumps(zoo.get(name)))
        assert today is not None, f"the program of {name} is gone; remove the bundle"
        assert {**today, "where": None} == {**expected, "where": None}, f"make record NAME={Path(name).stem}"


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_a_bundle_is_small_and_of_no_machine(name: str) -> None:
    data = (BUNDLES / name).read_bytes()
    assert len(data) <= LARGEST_BYTES
    stacks = bundle(name).get(Stacks)
    files = {frame.file for stack in (stacks.all if stacks else ()) for frame in stack.frames}
    assert [one for one in files if not one.startswith((PROJECT, PYTHON, "<"))] == []
    assert not re.search(rb'["= ]/(?:root|home/(?!user/)\w|Users)/', data)
