"""`unstall demo`: watch unstall find the cause of a training that gets stuck on purpose."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

import click

from unstall.cli.output import emit


@click.command("demo")
@click.argument("slug", default="lock-self-deadlock")
@click.option("--heal", is_flag=True, help="Announced: healing comes with `unstall run --heal`.")
def command(slug: str, heal: bool) -> int:
    """Start a training that gets stuck, and say why it is.

    SLUG is a cause, as `unstall explain` lists them. Needs torch. All that was started is killed at the end.
    Exits with 0 if the cause was found.
    """
    from unstall.reports import terminal
    from unstall.workflows import demo, why

    program = demo.find(slug)
    if heal:
        click.echo("Healing comes with `unstall run --heal`, which is not there yet; this only diagnoses.\n", err=True)
    click.echo(f"{click.wrap_text(program.story, 80)}\n\n1. starting a copy of {program.path}", err=True)
    with _cleaning_up_when_killed(), demo.stuck(program) as pid:
        click.echo(f"2. it is stuck; looking at it from outside: unstall why {pid}\n", err=True)
        diagnosis = why.judge(why.look(pid))
        emit(terminal.render(diagnosis))
    found = bool(diagnosis.findings) and diagnosis.findings[0].cause == program.cause
    click.echo("", err=True)
    if found:
        click.echo(f"3. found: {program.cause}. The demo and all that it started are gone.", err=True)
        return 0
    said = diagnosis.findings[0].cause if diagnosis.findings else f"no cause (verdict: {diagnosis.verdict})"
    click.echo(f"3. not found: it should be {program.cause}, but the report says {said}.", err=True)
    return 1


@contextlib.contextmanager
def _cleaning_up_when_killed() -> Iterator[None]:
    """Let `kill` and a closed terminal do what Ctrl-C does, so that nothing is left running."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
