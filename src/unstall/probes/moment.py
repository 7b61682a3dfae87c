"""Answers that hold for one look: asked twice within it they are given twice, the next look asks anew."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
D = TypeVar("D", bound=dict[Any, Any])
_remembered: list[Any] = []
_kept: list[dict[Any, Any]] = []


def once_per_look(function: F) -> F:
    """Remember what the function returned, until the next look begins."""
    cached = functools.cache(function)
    _remembered.append(cached)
    return functools.wraps(function)(cached)  # type: ignore[return-value]


def ask_anew(function: Callable[..., Any]) -> None:
    """Forget what this one function returned."""
    function.cache_clear()  # type: ignore[attr-defined]


def kept_for_one_look(container: D) -> D:
    """A container that is emptied when the next look begins."""
    _kept.append(container)
    return container


def begin_look() -> None:
    """Forget: processes, sockets and source files may have changed."""
    for one in _remembered:
        one.cache_clear()
    for container in _kept:
        container.clear()
