"""JSON, and its published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

import unstall.reports
from tests.reports.examples import SELF_DEADLOCK, SLOW, STALLED, hostile
from unstall.model.diagnosis import Diagnosis, Target, Verdict
from unstall.reports import json_report

PUBLISHED = Path(unstall.reports.__file__).parent / "schema" / "diagnosis-1.json"


def test_the_published_schema_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    json_report.print_schema()
    made = capsys.readouterr().out
    assert made == PUBLISHED.read_text(), "run `python -m unstall.reports.json_report` and save what it prints"


@pytest.mark.parametrize(
    "diagnosis", [STALLED, SLOW, Diagnosis(Target(None, ""), Verdict.UNKNOWN), hostile()], ids=lambda one: one.verdict
)
def test_output_fits_the_schema(diagnosis: Diagnosis) -> None:
    schema = json.loads(PUBLISHED.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json_report.render(diagnosis)), schema)


def test_the_contract_of_the_design() -> None:
    document = json.loads(json_report.render(STALLED))
    assert document["schema"] == "unstall.diagnosis/1"
    assert document["target"] == {"pid": 700, "command": "python train.py"}
    assert document["verdict"] == "stalled"
    finding = document["findings"][0]
    assert set(finding) == {"cause", "title", "confidence", "where", "sample", "chain", "because", "remedies"}
    assert set(finding["where"][0]) == {"file", "line", "function", "pid", "role"}
    assert set(finding["chain"][0]) == {"who", "waits_for", "grade", "source"}
    assert set(finding["because"][0]) == {"statement", "source"}
    assert set(finding["remedies"][0]) == {"action", "why", "snippet", "automatic"}
    assert set(document["unexamined"][0]) == {"what", "why", "hint"}


def test_it_can_be_read_back() -> None:
    assert msgspec.json.decode(json_report.render(STALLED), type=Diagnosis) == STALLED


def test_compact_is_one_line() -> None:
    assert json_report.render(STALLED, compact=True).count("\n") == 1


def test_names_that_are_no_utf_8() -> None:
    odd = msgspec.structs.replace(STALLED, summary="file caf\udce9.bin")
    assert json.loads(json_report.render(odd))["summary"] == "file caf?.bin"


def test_findings_of_check() -> None:
    document = json.loads(json_report.render_findings([SELF_DEADLOCK]))
    assert document["schema"] == "unstall.check/1"
    assert document["findings"][0]["cause"] == "lock-self-deadlock"
