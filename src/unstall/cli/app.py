"""The group of commands. Whatever goes wrong becomes two calm lines on stderr, and an exit code."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from unstall.cli.output import ClosedOutput
from unstall.errors import UnstallError, UsageError

COMMANDS = ("why", "run", "check", "explain", "demo")
COULD_NOT_LOOK = 3
INTERRUPTED = 130  # as a shell shows a program that was ended by Ctrl-C
NOBODY_READS = 141  # as a shell shows a program whose reader went away


class Commands(click.Group):
    """Imports a command's file when the command is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, the most important first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
            raise UsageError(
                f"there is no command {cmd_name[:60]!r}",
                hint=f"did you mean `unstall {near[0]}`?" if near else "`unstall --help` lists the commands",
            )
        found: click.Command = importlib.import_module(f"unstall.cli.{cmd_name}").command
        return found


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        try:
            version = metadata.version("unstall")
        except metadata.PackageNotFoundError:
            version = "(run from its source)"
        click.echo(f"unstall {version}")
        context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 nothing wrong, 1 findings, 2 wrong usage, 3 could not look.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """Find out why PyTorch training is stuck.

    It looks from outside at a process that runs, without stopping or changing it.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    try:
        code = cli.main(arguments, prog_name="unstall", standalone_mode=False)
    except ClosedOutput:
        return NOBODY_READS
    except UnstallError as error:
        return complain(error.message, error.hint, error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return complain(error.format_message(), _help_hint(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return complain("interrupted", None, INTERRUPTED)
    except Exception as error:  # a traceback helps nobody who is looking for another bug
        if os.environ.get("UNSTALL_TRACEBACK"):
            raise
        hint = "this is a bug in unstall; please report it with what `UNSTALL_TRACEBACK=1` shows"
        return complain(f"it broke: {type(error).__name__}: {error}", hint, COULD_NOT_LOOK)
    return code if isinstance(code, int) else 0


def complain(message: str, hint: str | None, code: int) -> int:
    """Say on stderr what happened and what to do; hand back the exit code."""
    click.echo(f"unstall: {message}", err=True)
    if hint:
        click.echo(f"\nhint: {hint}", err=True)
    return code


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path if context else 'unstall'} --help` shows how to call it"
