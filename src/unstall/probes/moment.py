"""Answers that hold for one look: asked twice within it they are given twice, the next look asks anew."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_remembered: list[Any] = []


def once_per_look(function: F) -> F:
    """Remember what the function returned, until the next look begins."""
    cached = functools.cache(function)
    _remembered.append(cached)
    return functools.wraps(function)(cached)  # type: ignore[return-value]


def begin_look() -> None:
    """Forget: processes, sockets and source files may have changed."""
    for one in _remembered:
        one.cache_clear()
