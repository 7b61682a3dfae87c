"""One supervised run, from start to end."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shlex
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from unstall.errors import UnstallError
from unstall.evidence.endings import Ending
from unstall.evidence.timings import Timings
from unstall.flight import reader
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Target, Verdict
from unstall.model.document import encode
from unstall.model.evidence import Evidence
from unstall.model.finding import Confidence
from unstall.model.run import Run, TimedDiagnosis
from unstall.probes import endings, memory, processes, procfs
from unstall.workflows import why
from unstall.workflows.run import history, launch
from unstall.workflows.run.nodes import Nodes, waits_for_unseen
from unstall.workflows.run.pace import LONGEST_PAUSE_S, Pace
from unstall.workflows.run.slowness import Slowness
from unstall.workflows.run.usage import Usage
from unstall.workflows.run.watch import STALLED_ANYWAY_S, Watch

TICK_S = 0.25
LOOK_AGAIN_S = 30.0  # at a stall that was reported: its cause may turn out to be another one
STATUS_S = 2.0
LONG_QUIET_S = 60.0  # after this, what may be slow is told, too
NO_RECORD_S = 5.0  # after the start, a Python that has none lets no agent in
CHECKUP_S = 12.0


class Listener(Protocol):
    """Whoever tells people what a session has to say."""

    def report(self, diagnosis: Diagnosis, when: str) -> None:
        """A stall, slowness, or an end that needs explaining: each once."""

    def status(self, timings: Timings) -> None:
        """How it goes, every few seconds."""

    def summary(self, timings: Timings, *, advice: bool = True) -> None:
        """Where the time went: at the end, and when asked."""

    def notice(self, text: str) -> None:
        """Something about the supervision itself."""


@dataclass
class Session:
    """A training under supervision."""

    command: list[str]
    listener: Listener
    json_file: Path | None = None
    stall_after: float | None = None
    keep_orphans: bool = False
    summary_every: float | None = None
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
        self.next_summary = self.began + (self.summary_every or math.inf)
        self.noticed = 0.0  # since when nothing had moved, when that was last said
        self.outside = False
        self.next_checkup = self.began + CHECKUP_S
        self.next_status = self.began + STATUS_S
        self.usage = Usage()
        self.kills_before = memory.oom_kills() or 0
        self.commands = {tuple(self.command)}  # of the training's Pythons: a fork of one has the same

    def run(self) -> int:
        """Start the training, watch it, explain its end; its wait status."""
        training = launch.start(self.command, self.folder)
        self._write(None)
        with launch.passing_signals_on(training) as self.signals:
            status = self._attend(training.pid)
            self._after(training.pid, status)
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
        living = {one: beats for one, beats in records.items() if Path(f"/proc/{one}").exists()}
        reader.retire(str(self.folder), records, set(living))
        self.usage.note(pid, living)
        self.nodes.note(living, now)
        if self.watch.note(living, now) and self.reported:
            self.reported, self.verdict = None, Verdict.PROGRESSING
            self._write(None)
        self._tell_pace(self.slowness.tick(records, now), now)
        if not records and not self.outside and now - self.began > NO_RECORD_S:
            self._note_outside(pid)
        if now >= self.next_status or launch.SUMMARY in self.signals:
            self._show(now)
        if self.looking is None:
            if self.watch.is_due(now) or self._checkup_is_due(now):
                self.looking = threading.Thread(target=self._look, args=(pid,), daemon=True)
                self.looking.start()
        elif not self.looking.is_alive():
            self.looking = None
            self._judge(now)

    def _note_outside(self, pid: int) -> None:
        """Started with -I, -S or -E, or in a folder where it may not write."""
        self.outside = True
        if any(processes.is_python(one) for one in (pid, *processes.descendants(pid))):
            self.listener.notice("this Python lets no agent in; it is watched from outside only, which shows less")

    def _checkup_is_due(self, now: float) -> bool:
        """Now and then, a training that moves is looked at, too: it may be in a loop that never ends."""
        due = now >= self.next_checkup
        if due:
            self.next_checkup = now + min(2 * (now - self.began), LONGEST_PAUSE_S)
        return due

    def _show(self, now: float) -> None:
        """How it goes; and where the time went, if somebody has asked."""
        self.next_status = now + STATUS_S
        timings = self.slowness.evidence()
        asked = launch.SUMMARY in self.signals or now >= self.next_summary
        self.signals.discard(launch.SUMMARY)
        if timings is not None:
            self.listener.status(timings)
            if asked:
                self.listener.summary(timings)
                self.next_summary = now + (self.summary_every or math.inf)

    def _look(self, pid: int) -> None:
        try:
            bundle = self.nodes.merged(why.look(pid)).having(self._ending(pid, None, ()))
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
        self._tell_pace(self.slowness.fresh(bundle), now)
        self.nodes.tell(bundle, diagnosis)
        quiet = self.watch.quiet(now)
        sure = _is_sure(diagnosis)
        lasts = quiet >= diagnosis.took_s  # nothing has moved since the look began
        stuck = diagnosis.verdict is Verdict.STALLED or waits_for_unseen(bundle, diagnosis)
        long = lasts and quiet >= LONG_QUIET_S
        if diagnosis.verdict is Verdict.SLOW and (sure or long):  # one sample that takes a minute is worth a word
            self._tell_slow(bundle, diagnosis, now)
        if not stuck or not lasts or not (sure or quiet >= STALLED_ANYWAY_S):
            self.watch.looked(now)
            return
        cause = diagnosis.findings[0].cause if diagnosis.findings else ""
        if self.reported is None or self.reported[1] != cause:
            self.verdict, self.reported = diagnosis.verdict, (self.watch.changed, cause)
            self._tell(bundle, diagnosis, f"nothing has moved for {quiet:.0f} s")
        self.watch.next_look = now + LOOK_AGAIN_S

    def _tell_slow(self, bundle: Bundle, diagnosis: Diagnosis, now: float) -> None:
        """It computes, or waits with a limit: it may go on."""
        if diagnosis.findings:
            self._tell_pace(self.slowness.once(bundle, diagnosis), now, loud=True)
        elif self.noticed != self.watch.changed:
            self.noticed = self.watch.changed
            self.listener.notice(f"nothing has moved for {self.watch.quiet(now):.0f} s: {diagnosis.summary}")

    def _tell_pace(self, news: tuple[Bundle, Diagnosis] | None, now: float, *, loud: bool = False) -> None:
        """Something is wrong with a training that moves. What is only possible is not printed, unless `loud`."""
        if news is not None:
            self.verdict = self.verdict if self.verdict is Verdict.STALLED else news[1].verdict
            when = f"it has been running for {now - self.began:.0f} s"
            self._tell(*news, when, loud=loud or _is_sure(news[1]))

    def _tell(self, bundle: Bundle, diagnosis: Diagnosis, when: str, *, loud: bool = True) -> None:
        at = time.monotonic() - self.began
        self.diagnoses.append(TimedDiagnosis.of(diagnosis, round(at, 1)))
        with contextlib.suppress(UnstallError):
            why.save(bundle, self.folder / f"bundle-{len(self.diagnoses):03}.json")
        self._write(None)
        if loud:
            self.listener.report(diagnosis, when)

    def _after(self, pid: int, status: int) -> None:
        """Explain the end, if it was a bad one, and leave nothing behind."""
        launch.reap()
        if not self.keep_orphans:
            launch.end_orphans(self.folder, self.commands)
            launch.reap()
        now = memory.collect()[0]
        ending = self._ending(pid, status, now.oom_messages)
        code = endings.source_of(ending)
        evidence: dict[str, Evidence] = {one.kind: one for one in (ending, now, code)}
        bundle = Bundle(self.target, evidence, took_s=0.0)
        diagnosis = why.judge(bundle)
        with contextlib.suppress(UnstallError):
            why.save(bundle, self.folder / "ending.json")
        self._sum_up()
        words = ending.last_words
        interrupted = ending.signal == signal.SIGINT or (words is not None and words.type == "KeyboardInterrupt")
        asked_to_end = interrupted or ending.signal in self.signals
        if self.reported is None and not asked_to_end and (ending.failed or not self.slowness.is_sure):
            self.verdict = diagnosis.verdict
            if diagnosis.findings:
                self._tell(bundle, diagnosis, "the training has ended")
        self._write(os.waitstatus_to_exitcode(status))

    def _sum_up(self) -> None:
        """The last reading of the clocks."""
        self.slowness.pace.note(reader.read_all(str(self.folder)), time.monotonic(), last=True)
        self._tell_pace(self.slowness.news(), time.monotonic())
        if timings := self.slowness.evidence():
            self.listener.summary(timings, advice=self.verdict is not Verdict.STALLED)

    def _ending(self, pid: int, status: int | None, messages: tuple[str, ...]) -> Ending:
        """What the training's processes have said, and how they have ended."""
        return endings.collect(
            str(self.folder),
            pid,
            status,
            _script(self.command),
            self.kills_before,
            resources=self.usage.resources(messages),
            largest=self.usage.largest,
        )

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


def _is_sure(diagnosis: Diagnosis) -> bool:
    return any(one.confidence is not Confidence.POSSIBLE for one in diagnosis.findings)


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
