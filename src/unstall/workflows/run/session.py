"""One supervised run, from start to end."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from unstall.errors import UnstallError
from unstall.flight import reader
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Target, Verdict
from unstall.model.document import encode
from unstall.model.finding import Confidence
from unstall.model.run import Run, TimedDiagnosis
from unstall.probes import endings, memory, procfs
from unstall.workflows import why
from unstall.workflows.run import history, launch
from unstall.workflows.run.nodes import Nodes, waits_for_unseen
from unstall.workflows.run.pace import Pace
from unstall.workflows.run.slowness import Slowness
from unstall.workflows.run.watch import STALLED_ANYWAY_S, Watch

TICK_S = 0.25
LOOK_AGAIN_S = 30.0  # at a stall that was reported: its cause may turn out to be another one
Report = Callable[[Diagnosis, str], None]


@dataclass
class Session:
    """A training under supervision. `report` is called once per stall, and for an end that needs explaining."""

    command: list[str]
    report: Report
    json_file: Path | None = None
    stall_after: float | None = None
    keep_orphans: bool = False
    runs: Path | None = None
    diagnoses: list[TimedDiagnosis] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder = history.new_run(self.runs)
        self.nodes = Nodes(self.folder)
        self.began = time.monotonic()
        self.watch = Watch(self.began, self.stall_after)
        self.slowness = Slowness(Pace(self.folder), self.target)
        self.looking: threading.Thread | None = None
        self.seen: tuple[Bundle, Diagnosis] | None = None
        self.reported: tuple[float, str] | None = None  # when the beats stood still, and the cause
        self.verdict = Verdict.PROGRESSING
        self.commands = {tuple(self.command)}  # of the training's Pythons: a fork of one has the same

    def run(self) -> int:
        """Start the training, watch it, explain its end; its wait status."""
        kills_before = memory.oom_kills() or 0
        training = launch.start(self.command, self.folder)
        self._write(None)
        with launch.passing_signals_on(training):
            status = self._attend(training.pid)
            self._after(training.pid, status, kills_before)
        return status

    def _attend(self, pid: int) -> int:
        handle = os.pidfd_open(pid)
        try:
            while not select.select([handle], [], [], TICK_S)[0]:
                try:
                    self._tick(pid, time.monotonic())
                except Exception:  # noqa: BLE001  the training comes first: it must not die of us
                    history.note_trouble(self.folder)
        finally:
            os.close(handle)
        return os.waitpid(pid, 0)[1]

    def _tick(self, pid: int, now: float) -> None:
        records = reader.read_all(str(self.folder))
        self.commands |= {tuple(procfs.command(one)) for one in records.keys() - self.watch.known}
        living = {pid: one for pid, one in records.items() if Path(f"/proc/{pid}").exists()}
        self.nodes.note(living, now)
        if self.watch.note(living, now) and self.reported:
            self.reported, self.verdict = None, Verdict.PROGRESSING
            self._write(None)
        if news := self.slowness.tick(records, now):
            self.verdict = news[1].verdict
            self._tell(*news, f"it has been running for {now - self.began:.0f} s")
        if self.looking is None:
            if self.watch.is_due(now):
                self.looking = threading.Thread(target=self._look, args=(pid,), daemon=True)
                self.looking.start()
        elif not self.looking.is_alive():
            self.looking = None
            self._judge(now)

    def _look(self, pid: int) -> None:
        try:
            bundle = self.nodes.merged(why.look(pid))
            self.seen = bundle, why.judge(bundle)
        except UnstallError:
            self.seen = None  # it ended meanwhile
        except Exception:  # noqa: BLE001  the look is lost, the training and the watch go on
            history.note_trouble(self.folder)
            self.seen = None

    def _judge(self, now: float) -> None:
        """Report what was seen, if it is a stall and still lasts."""
        if self.seen is None:
            self.watch.looked(now)
            return
        (bundle, diagnosis), self.seen = self.seen, None
        self.nodes.tell(bundle, diagnosis)
        quiet = self.watch.quiet(now)
        sure = any(one.confidence is not Confidence.POSSIBLE for one in diagnosis.findings)
        lasts = quiet >= diagnosis.took_s  # nothing has moved since the look began
        stuck = diagnosis.verdict is Verdict.STALLED or waits_for_unseen(bundle, diagnosis)
        if not stuck or not lasts or not (sure or quiet >= STALLED_ANYWAY_S):
            self.watch.looked(now)
            return
        cause = diagnosis.findings[0].cause if diagnosis.findings else ""
        if self.reported is None or self.reported[1] != cause:
            self.verdict, self.reported = diagnosis.verdict, (self.watch.changed, cause)
            self._tell(bundle, diagnosis, f"nothing has moved for {quiet:.0f} s")
        self.watch.next_look = now + LOOK_AGAIN_S

    def _tell(self, bundle: Bundle, diagnosis: Diagnosis, when: str) -> None:
        at = time.monotonic() - self.began
        self.diagnoses.append(TimedDiagnosis.of(diagnosis, round(at, 1)))
        with contextlib.suppress(UnstallError):
            why.save(bundle, self.folder / f"bundle-{len(self.diagnoses):03}.json")
        self._write(None)
        self.report(diagnosis, when)

    def _after(self, pid: int, status: int, kills_before: int) -> None:
        """Explain the end, if it was a bad one, and leave nothing behind."""
        launch.reap()
        if not self.keep_orphans:
            launch.end_orphans(self.folder, self.commands)
            launch.reap()
        ending = endings.collect(str(self.folder), pid, status, _script(self.command), kills_before)
        evidence = {ending.kind: ending, "memory": memory.collect()[0]}
        bundle = Bundle(self.target, evidence, took_s=0.0)
        diagnosis = why.judge(bundle)
        with contextlib.suppress(UnstallError):
            why.save(bundle, self.folder / "ending.json")
        if self.reported is None:
            self.verdict = diagnosis.verdict
        if diagnosis.findings and self.reported is None:
            self._tell(bundle, diagnosis, "the training has ended")
        self._write(os.waitstatus_to_exitcode(status))

    @property
    def target(self) -> Target:
        """What is supervised."""
        return Target(None, shlex.join(self.command)[:500])

    def _write(self, exit_code: int | None) -> None:
        """The state of the run as JSON, in its folder and where the user wants it: all of it, or the one before."""
        took = round(time.monotonic() - self.began, 1)
        run = Run(self.target, self.verdict, exit_code, took, str(self.folder), tuple(self.diagnoses))
        data = msgspec.json.format(encode(run), indent=2) + b"\n"
        for path in (self.folder / "run.json", self.json_file):
            if path is not None:
                _replace(path, data)


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"unstall: can't write {path}: {error.strerror}\n")


def _script(command: list[str]) -> str:
    return next((word for word in command[1:] if word.endswith(".py")), "")
