"""`unstall check`: will this training get stuck? Reads the source, runs nothing."""

from __future__ import annotations

from pathlib import Path

import click

from unstall.cli.output import emit


@click.command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", type=click.Path(exists=True, path_type=Path))
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(paths: tuple[Path, ...], style: str) -> int:
    """Find code that will get stuck, by reading it.

    PATH is a Python file or a folder. Nothing is run or imported.
    """
    from unstall.workflows.check import check

    findings = check(list(paths))
    if style == "json":
        from unstall.reports import json_report

        emit(json_report.render_findings(findings))
    elif findings:
        from unstall.reports import lines

        emit(lines.render(findings, folder=str(Path.cwd())))
    if style == "text":
        counted = f"{len(findings)} finding{'s' if len(findings) != 1 else ''}" if findings else "nothing found"
        click.echo(counted, err=True)
    return 1 if findings else 0
