"""The errors that unstall shows to people.

UnstallError                 what happened, and a hint with a command to try
├── UsageError               the call itself is wrong (exit code 2)
├── CannotLook               the target can't be examined (exit code 3)
│   ├── NoSuchProcess        no process with that number
│   ├── NotPython            a process, but not a Python one
│   └── NotPermitted         the kernel refuses to show it
└── BadBundle                a bundle that can't be read (exit code 3)
"""

from __future__ import annotations


class UnstallError(Exception):
    """Something went wrong in a way that the user can understand and mend."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(UnstallError):
    """The command was called in a wrong way."""

    exit_code = 2


class CannotLook(UnstallError):
    """The target can't be examined."""


class NoSuchProcess(CannotLook):
    """No process has that number."""


class NotPython(CannotLook):
    """The process exists, but it does not run Python."""


class NotPermitted(CannotLook):
    """The kernel does not let this user look at the process."""


class BadBundle(UnstallError):
    """A bundle file is damaged, or is no bundle."""
