"""`unstall why`: why is this training stuck? Look, read, judge; save what was seen; look again and again."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import select
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from unstall import engine, evidence
from unstall.causes import catalogue
from unstall.errors import BadBundle, CannotLook, UnstallError
from unstall.evidence.stall import LONG_S, VERY_LONG_S
from unstall.evidence.threads import Threads
from unstall.model.bundle import LARGEST_BYTES, Bundle, decode
from unstall.model.diagnosis import Diagnosis
from unstall.model.finding import Confidence

PATIENCE_S = (LONG_S + 0.3, VERY_LONG_S + 0.3, 16.0)  # for how long to watch what may be slow, or stuck
LONGEST_S = 14.5  # no more watching after that
SLICE_S = 3.6  # between two judgements: a slow training may have gone on
_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


def diagnose(target: int | str | os.PathLike[str] | Bundle, *, with_locals: bool = False) -> Diagnosis:
    """Why is this training stuck? The target is a process number, a saved bundle's path, or a Bundle."""
    if isinstance(target, Bundle):
        return judge(target)
    if isinstance(target, int):
        return judge(look(target, with_locals=with_locals))
    return judge(read(Path(target)))


def look(pid: int, *, with_locals: bool = False) -> Bundle:
    """Collect the evidence about the training that a process belongs to."""
    check_system()
    from unstall.probes.collect import Collection
    from unstall.probes.processes import find_root

    collection = Collection(find_root(pid), with_locals=with_locals)
    try:
        collection.watch()
        bundle = collection.bundle()
        while (more := _worth_watching(bundle, collection.span_s)) > 0 and bundle.took_s < LONGEST_S:
            collection.include_those_behind(bundle)
            collection.watch(min(more, SLICE_S))
            bundle = collection.bundle()
    finally:
        collection.close()
    return bundle


def _worth_watching(bundle: Bundle, span_s: float) -> float:
    """For how much longer to watch, until time alone would settle what is in doubt; 0 where it would not."""
    threads = bundle.get(Threads)
    if threads is None or not _is_doubtful(judge(bundle)):
        return 0.0
    for longer in PATIENCE_S:
        later = msgspec.structs.replace(threads, span_s=longer)
        if longer > span_s and not _is_doubtful(judge(bundle.having(later))):
            return longer - span_s
    return 0.0


def _is_doubtful(diagnosis: Diagnosis) -> bool:
    """Whether something was seen that only time tells apart from a slow training."""
    return bool(diagnosis.findings) and all(
        one.confidence is Confidence.POSSIBLE and one.cause != "unknown-wait" for one in diagnosis.findings
    )


def check_system() -> None:
    """Refuse where running processes can't be read yet."""
    if sys.platform != "linux":
        system = _SYSTEMS.get(sys.platform, sys.platform)
        raise CannotLook(
            f"unstall can't look into a running process on {system} yet: it reads /proc, which only Linux has",
            hint="save the evidence where the training runs (`unstall why PID --save stall.json`), "
            "then `unstall why stall.json` works here",
        )


def read(path: Path) -> Bundle:
    """Read a saved bundle; of a run's folder, its newest one."""
    if path.is_dir():
        path = _newest_in(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise BadBundle(
            f"can't read {path}: {error.strerror}", hint="save a bundle with `unstall why PID --save FILE`"
        ) from error
    if len(data) > LARGEST_BYTES:
        raise BadBundle(f"{path} is larger than any bundle")
    for module in pkgutil.iter_modules(evidence.__path__):  # a kind of evidence is known once its file is imported
        importlib.import_module(f"{evidence.__name__}.{module.name}")
    return decode(data)


def _newest_in(run: Path) -> Path:
    """The evidence of the last stall that was reported in a run, or else of its end; of many runs, the newest."""
    for found in (*sorted(run.glob("bundle-*.json"), reverse=True), run / "ending.json"):
        if found.exists():
            return found
    many = [*run.glob("*/bundle-*.json"), *run.glob("*/ending.json")]
    if many:
        return max(many, key=lambda one: one.stat().st_mtime)
    raise BadBundle(f"{run} holds no evidence of a run", hint="`unstall run` keeps its runs in .unstall/runs/")


def judge(bundle: Bundle, *, in_motion: bool = False) -> Diagnosis:
    """The diagnosis of a bundle; of one that is known to move, without its stalls."""
    return engine.diagnose(bundle, catalogue(), in_motion=in_motion)


def save(bundle: Bundle, path: Path) -> None:
    """Write a bundle, all of it or nothing: a reader never sees half a file."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
            path.write_bytes(bundle.encode())
            return
        descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(bundle.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UnstallError(
            f"can't save the bundle to {path}: {error.strerror}", hint="name a file in a folder that you may write to"
        ) from error


def watch(pid: int, every_s: float, *, with_locals: bool = False) -> Iterator[tuple[Bundle, Diagnosis]]:
    """Look at a training again and again, until it ends."""
    check_system()
    from unstall.probes.processes import find_root

    root = find_root(pid)
    with _open_process(root) as process:
        while True:
            bundle = look(root, with_locals=with_locals)
            yield bundle, judge(bundle)
            if _ends_within(process, every_s):
                return


@contextlib.contextmanager
def _open_process(pid: int) -> Iterator[int]:
    """A descriptor that stands for this very process, even if its number is given to another one later."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError as error:
        raise CannotLook(f"process {pid} can't be watched: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _ends_within(process: int, seconds: float) -> bool:
    """Wait; True as soon as the process has ended."""
    return bool(select.select([process], [], [], seconds)[0])
