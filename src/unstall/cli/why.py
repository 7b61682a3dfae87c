"""`unstall why`: why is this training stuck?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unstall.cli.output import emit
from unstall.errors import UsageError

if TYPE_CHECKING:
    from unstall.model.bundle import Bundle
    from unstall.model.diagnosis import Diagnosis

LONGEST_PID = 10
FIND_IT = "`pgrep -af python` lists the Python processes with their numbers"


@click.command("why")
@click.argument("target", metavar="(PID | BUNDLE.json | RUN)")
@click.option("--json", "as_json", is_flag=True, help="Print the diagnosis as JSON.")
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Also save the evidence as a bundle.")
@click.option("--watch", "every_s", type=click.FloatRange(0, 86_400), metavar="S", help="Look again every S seconds.")
@click.option("--with-locals", is_flag=True, help="Read local variables too; they may be private.")
def command(target: str, as_json: bool, save: Path | None, every_s: float | None, with_locals: bool) -> int:
    """Say why a training is stuck.

    PID is the number of any of its processes; `pgrep -af python` lists them. BUNDLE.json is evidence that was
    saved with --save, here or on another machine. RUN is a folder that `unstall run` has left in .unstall/runs/.
    """
    from unstall.workflows import why

    pid = _pid(target)
    if pid is None:
        _refuse(with_watch=every_s is not None, with_save=save is not None, with_locals=with_locals)
        diagnosis = why.judge(why.read(Path(target)))
        _show(diagnosis, as_json=as_json)
        return exit_code(diagnosis)
    if every_s is not None:
        return _watch(pid, every_s, as_json=as_json, save=save, with_locals=with_locals)
    bundle = why.look(pid, with_locals=with_locals)
    _keep(bundle, save)
    diagnosis = why.judge(bundle)
    _show(diagnosis, as_json=as_json)
    return exit_code(diagnosis)


def exit_code(diagnosis: Diagnosis) -> int:
    """0 nothing wrong, 1 something is, 3 nothing could be seen."""
    if diagnosis.verdict == "unknown":
        return 3
    if diagnosis.findings or diagnosis.verdict in ("stalled", "crashed", "not-learning"):
        return 1
    return 0


def _pid(target: str) -> int | None:
    """The process number, or None for a bundle."""
    if target.isascii() and target.isdecimal() and len(target) <= LONGEST_PID:
        return int(target)
    if not Path(target).exists():
        raise UsageError(f"{target[:200]!r} is neither a process number nor a file", hint=FIND_IT)
    return None


def _refuse(*, with_watch: bool, with_save: bool, with_locals: bool) -> None:
    given = [("--watch", with_watch), ("--save", with_save), ("--with-locals", with_locals)]
    names = [name for name, wanted in given if wanted]
    if names:
        raise UsageError(
            f"{' and '.join(names)} can't be used with a bundle: it is the evidence of one moment, already saved",
            hint="name a running process instead; " + FIND_IT,
        )


def _keep(bundle: Bundle, path: Path | None) -> None:
    from unstall.workflows import why

    if path is not None:
        why.save(bundle, path)
        click.echo(f"saved the evidence: {path}", err=True)


def _show(diagnosis: Diagnosis, *, as_json: bool, compact: bool = False) -> None:
    if as_json:
        from unstall.reports import json_report

        emit(json_report.render(diagnosis, compact=compact))
    else:
        from unstall.reports import terminal

        emit(terminal.render(diagnosis))


def _watch(pid: int, every_s: float, *, as_json: bool, save: Path | None, with_locals: bool) -> int:
    """Report each change; one quiet line where nothing changed. Ends with the training, or with Ctrl-C."""
    from unstall.workflows import why

    last: object = None
    code = 0
    try:
        for bundle, diagnosis in why.watch(pid, every_s, with_locals=with_locals):
            code = exit_code(diagnosis)
            now = (diagnosis.verdict, diagnosis.findings[:1] and _identity(diagnosis))
            if now == last:
                click.echo(f"{_time()} still {diagnosis.verdict}", err=True)
                continue
            if last is not None and not as_json:
                click.echo(f"\n{_time()} changed:", err=True)
            last = now
            _keep(bundle, save)
            _show(diagnosis, as_json=as_json, compact=True)
    except KeyboardInterrupt:
        click.echo("stopped watching; the training runs on", err=True)
        return code
    click.echo(f"{_time()} the training has ended", err=True)
    return code


def _identity(diagnosis: Diagnosis) -> object:
    """What makes the first finding the same one as before: not its numbers, which may move."""
    first = diagnosis.findings[0]
    place = [(one.file, one.line, one.pid) for one in first.where[:1]]
    return first.cause, first.sample, place


def _time() -> str:
    import time

    return time.strftime("%H:%M:%S")
