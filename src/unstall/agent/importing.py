"""Runs a hook right after a module was imported, without importing it before the user does."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from types import ModuleType

MYPY = False
if MYPY:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any


class AfterImport:
    """A finder that finds nothing itself: it only wraps the loaders of the wanted modules."""

    def __init__(self, hooks: dict[str, Callable[[ModuleType], None]]) -> None:
        self.hooks = hooks

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, with a loader that runs the hook afterwards."""
        hook = self.hooks.pop(name, None)
        if hook is None:
            return None
        if not self.hooks and self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> Any:
            load(module)
            try:
                hook(module)
            except Exception:  # noqa: BLE001  a torch that looks different: then without this hook
                pass

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
