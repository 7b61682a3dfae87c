"""`unstall check`: will this training get stuck? Reads the source; runs and imports nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from unstall.causes import catalogue
from unstall.engine.diagnose import rank
from unstall.evidence.code import SourceFile
from unstall.model.cause import Cause
from unstall.model.finding import Finding

LARGEST_FILE = 1 << 20
_IGNORE = re.compile(r"#\s*unstall:\s*ignore(?:\[([\w\s,-]*)\])?")
_NOT_THE_USERS = {"__pycache__", "node_modules", "site-packages", "dist-packages"}


def check(paths: list[Path]) -> list[Finding]:
    """The findings in these files, and in the Python files below these folders: by file and line."""
    causes = [cause for cause in catalogue() if any(SourceFile in one.needs for one in cause.detectors)]
    found: list[Finding] = []
    for file in dict.fromkeys(one.resolve() for path in paths for one in python_files(path)):
        found += _check_file(file, causes)
    return found


def python_files(path: Path) -> Iterator[Path]:
    """The Python files of a folder, without hidden folders and virtual environments; a file is itself."""
    if not path.is_dir():
        yield path
        return
    for folder, inner, files in os.walk(path):
        here = Path(folder)
        inner[:] = sorted(name for name in inner if not _is_skipped(here / name))
        yield from (here / name for name in sorted(files) if name.endswith(".py") and not name.startswith("."))


def _is_skipped(folder: Path) -> bool:
    name = folder.name
    return name.startswith(".") or name in _NOT_THE_USERS or (folder / "pyvenv.cfg").exists()


def _check_file(path: Path, causes: list[Cause]) -> list[Finding]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            return []
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    source = SourceFile(str(path), text.removeprefix("\ufeff"))
    findings = [
        finding
        for cause in causes
        for detector in cause.detectors
        if detector.needs == (SourceFile,)
        for finding in detector.function(source)
    ]
    lines = text.splitlines()
    kept = [one for one in rank(findings) if not is_ignored(one, lines)]
    return sorted(kept, key=lambda one: one.where[0].line if one.where else 0)


def is_ignored(finding: Finding, lines: list[str]) -> bool:
    """Whether the line says `# unstall: ignore[its-cause]`, or `# unstall: ignore` for every cause."""
    line = finding.where[0].line if finding.where else 0
    comment = _IGNORE.search(lines[line - 1]) if 0 < line <= len(lines) else None
    if comment is None:
        return False
    slugs = comment.group(1)
    return slugs is None or finding.cause in [one.strip() for one in slugs.split(",")]
