"""`unstall run`: run a training so that its stalls and crashes are explained."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unstall.errors import UsageError

if TYPE_CHECKING:
    from unstall.evidence.timings import Timings
    from unstall.model.diagnosis import Diagnosis


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the run as JSON.")
@click.option("--stall-after", type=click.FloatRange(0.5), metavar="S", help="Look after S seconds without progress.")
@click.option(
    "--watch", "every", type=click.FloatRange(1), metavar="S", help="Say every S seconds where the time goes."
)
@click.option("--keep-orphans", is_flag=True, help="Let workers live when the training has ended.")
@click.option("--runs", type=click.Path(path_type=Path), metavar="DIR", help="Keep runs here; nodes can share it.")
@click.option("-m", "as_module", is_flag=True, help="Run a module, as `python -m` does.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="(SCRIPT | -m MODULE | -- COMMAND) [ARGS]…")
def command(
    json_file: Path | None,
    stall_after: float | None,
    every: float | None,
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
    terminal = Terminal()
    session = Session(
        command=line,
        listener=terminal,
        json_file=json_file.absolute() if json_file else None,
        stall_after=stall_after,
        summary_every=every,
        keep_orphans=keep_orphans,
        runs=runs,
    )
    try:
        status = session.run()
    finally:
        terminal.close()
    return launch.end_like(status)


def _after_dashes(words: tuple[str, ...]) -> bool:
    """Whether `--` stood before the words: click itself swallows it."""
    given = sys.argv[1:]
    place = len(given) - len(words)
    return place > 0 and given[place - 1] == "--" and tuple(given[place:]) == words


class Terminal:
    """Tells on stderr. The status is the terminal's title: it disturbs no progress bar."""

    def __init__(self) -> None:
        self.titled = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.began = False

    def report(self, diagnosis: Diagnosis, when: str) -> None:
        """A diagnosis in full."""
        from unstall.reports import terminal

        self._write(f"\nunstall: {when}\n{terminal.render(diagnosis)}\n")

    def status(self, timings: Timings) -> None:
        """How it goes, in the title."""
        from unstall.reports import summary

        if self.titled:
            keep, self.began = "" if self.began else "\x1b[22;2t", True
            self._write(f"{keep}\x1b]2;unstall: {summary.status(timings)}\x07")

    def summary(self, timings: Timings, *, advice: bool = True) -> None:
        """Where the time went."""
        from unstall.reports import summary

        if summary.is_worth_saying(timings):
            self._write("\n" + summary.render(timings, advice=advice))

    def notice(self, text: str) -> None:
        """One line."""
        self._write(f"unstall: {text}\n")

    def close(self) -> None:
        """Give the terminal its own title back."""
        if self.began:
            self._write("\x1b[23;2t")

    def _write(self, text: str) -> None:
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding, "replace"))
        sys.stderr.flush()
