"""The catalogue: one file per cause, by family. The docstring of a file is the cause's page.

A file has a `cause` and its detectors. It is found by itself: there is no list to edit. Other packages offer
causes through the entry-point group `unstall.causes`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from importlib.metadata import entry_points
from types import ModuleType

from unstall.model.cause import Cause


@functools.cache
def modules() -> dict[str, ModuleType]:
    """The module of each cause, by slug."""
    found: dict[str, ModuleType] = {}
    for one in pkgutil.walk_packages(__path__, __name__ + "."):
        if not one.ispkg:
            module = importlib.import_module(one.name)
            found[module.cause.slug] = module
    for entry in entry_points(group="unstall.causes"):
        module = entry.load()
        found.setdefault(module.cause.slug, module)
    return dict(sorted(found.items()))


def catalogue() -> list[Cause]:
    """Every cause, by slug."""
    return [module.cause for module in modules().values()]
