"""Findings of `unstall check`, a line each, in the form that editors understand."""

from __future__ import annotations

from collections.abc import Iterable

from unstall.model.finding import Finding
from unstall.reports.screen import clean


def render(findings: Iterable[Finding], *, folder: str = "") -> str:
    """`file:line: cause: title`, and below it what to do. Files below the folder are named from there."""
    return "".join(_line(one, f"{folder}/" if folder else "") for one in findings)


def _line(finding: Finding, folder: str) -> str:
    place = f"{clean(finding.where[0].file.removeprefix(folder))}:{finding.where[0].line}: " if finding.where else ""
    text = f"{place}{clean(finding.cause, 60)}: {clean(finding.title)} ({finding.confidence})\n"
    if finding.remedies:
        text += f"    {clean(finding.remedies[0].action)}\n"
    return text
