"""`unstall run`: run a training so that its stalls and crashes are explained."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unstall.errors import UsageError

if TYPE_CHECKING:
    from unstall.model.diagnosis import Diagnosis


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the run as JSON.")
@click.option("--stall-after", type=click.FloatRange(0.5), metavar="S", help="Look after S seconds without progress.")
@click.option("--keep-orphans", is_flag=True, help="Let workers live when the training has ended.")
@click.option("--runs", type=click.Path(path_type=Path), metavar="DIR", help="Keep runs here; nodes can share it.")
@click.option("-m", "as_module", is_flag=True, help="Run a module, as `python -m` does.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="(SCRIPT | -m MODULE | -- COMMAND) [ARGS]…")
def command(
    json_file: Path | None,
    stall_after: float | None,
    keep_orphans: bool,
    runs: Path | None,
    as_module: bool,
    words: tuple[str, ...],
) -> int:
    """Run a training, and say why it is stuck as soon as it is.

    SCRIPT is run by Python; after `--` comes any command that starts Python, such as `torchrun …`. The training's
    output, input, signals and exit code are its own. Reports go to stderr.
    """
    from unstall.workflows.run import launch
    from unstall.workflows.run.session import Session
    from unstall.workflows.why import check_system

    if not words:
        raise UsageError("what shall be run?", hint="`unstall run train.py`, or `unstall run -- torchrun train.py`")
    check_system()
    as_command = not as_module and _after_dashes(words)
    line = launch.command_line(words, module=as_module, command=as_command)
    session = Session(
        command=line,
        report=_report,
        json_file=json_file.absolute() if json_file else None,
        stall_after=stall_after,
        keep_orphans=keep_orphans,
        runs=runs,
    )
    return launch.end_like(session.run())


def _after_dashes(words: tuple[str, ...]) -> bool:
    """Whether `--` stood before the words: click itself swallows it."""
    given = sys.argv[1:]
    place = len(given) - len(words)
    return place > 0 and given[place - 1] == "--" and tuple(given[place:]) == words


def _report(diagnosis: Diagnosis, when: str) -> None:
    from unstall.reports import terminal

    text = f"\nunstall: {when}\n{terminal.render(diagnosis)}\n"
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding, "replace"))
    sys.stderr.flush()
