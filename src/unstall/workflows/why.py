"""`unstall why`: why is this training stuck?"""

from __future__ import annotations

from pathlib import Path

from unstall.causes import catalogue
from unstall.engine import diagnose
from unstall.errors import BadBundle
from unstall.model.bundle import LARGEST_BYTES, Bundle, decode
from unstall.model.diagnosis import Diagnosis
from unstall.probes.collect import Collection
from unstall.probes.processes import find_root


def look(pid: int, *, with_locals: bool = False) -> Bundle:
    """Collect the evidence about the training that a process belongs to."""
    collection = Collection(find_root(pid), with_locals=with_locals)
    collection.watch()
    return collection.bundle()


def read(path: Path) -> Bundle:
    """Read a saved bundle."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise BadBundle(f"{path} is larger than any bundle")
        data = path.read_bytes()
    except OSError as error:
        raise BadBundle(f"can't read {path}: {error.strerror}") from error
    return decode(data)


def judge(bundle: Bundle) -> Diagnosis:
    """The diagnosis of a bundle."""
    return diagnose(bundle, catalogue())
