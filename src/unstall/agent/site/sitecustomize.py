"""Python imports this at its start, because `unstall run` has put its folder at the front of PYTHONPATH."""

import os
import sys


def _start_agent() -> None:
    import importlib
    import types

    here = os.path.dirname(os.path.abspath(__file__))
    package = types.ModuleType("_unstall")  # unstall's own files, by path: it need not be installed here
    package.__path__ = [os.path.dirname(os.path.dirname(here))]
    sys.modules["_unstall"] = package
    importlib.import_module("_unstall.agent.start").start()


def _run_the_users_own() -> None:
    """The sitecustomize that this one hides."""
    import importlib.machinery
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    others = [one for one in sys.path if os.path.abspath(one or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    if os.environ.get("UNSTALL_RUN"):
        _start_agent()
except Exception:  # noqa: BLE001  the training comes first
    pass
_run_the_users_own()
