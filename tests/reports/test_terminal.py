"""The report on a terminal."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from rich.console import Console

from tests.reports.examples import HOSTILE, SELF_DEADLOCK, SLOW, STALLED, hostile
from unstall.model.diagnosis import Diagnosis, Target, Verdict
from unstall.model.finding import Confidence, Finding, Grade, Link, Location
from unstall.reports import terminal
from unstall.reports.screen import clean, open_console

EXPECTED = """\
STALLED: worker 1 waits for the shared lock `self.lock`, which it holds itself
  /home/ann/data.py:30 in Records.__getitem__
  called from /home/ann/base.py:7 in fetch
  worker 1 (pid 812), at sample 20. Certain: the mechanism was observed.

The chain of waits
  main (pid 700) at train.py:40
    → waits for batch 5  [exact: DataLoader iterator]
      → owed by worker 1 (pid 812) at data.py:30, at sample 20  [exact:
        DataLoader iterator]
        → waits for the shared lock `self.lock`  [exact: system call futex]
          → held by worker 1 (pid 812): full circle  [exact: SemLock.count]

How we know
  • the lock is held by the very thread that waits for it  [SemLock.count]
  • it was taken in Records.__getitem__ (data.py:28)  [its Python stack]

What to do
  1. Use an RLock: its holder may take it again
     self.lock = multiprocessing.RLock()
  2. Or take the lock in one place only

Not examined
  • process 99: it belongs to another user  [run as root]

More: unstall explain lock-self-deadlock   (looked at pid 700 for 1.9 s: python…
"""


def console(*, width: int = 80, height: int = 24, terminal: bool = False) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        height=height,
        force_terminal=terminal,
        color_system="truecolor" if terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_the_report_in_a_pipe() -> None:
    assert terminal.render(STALLED, console()) == EXPECTED


def test_colours_add_nothing_but_colour() -> None:
    shown = terminal.render(STALLED, console(terminal=True, height=50))
    assert "\x1b[" in shown
    assert without_colours(shown) == EXPECTED


def test_on_a_small_screen_the_empty_lines_go() -> None:
    shown = without_colours(terminal.render(STALLED, console(terminal=True, height=24)))
    assert shown == EXPECTED.replace("\n\n", "\n")
    assert shown.count("\n") < 24


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in terminal.render(STALLED, open_console())


def test_slow_shows_the_chain_and_progressing_does_not() -> None:
    assert "The chain of waits" in terminal.render(SLOW, console())
    moving = msgspec.structs.replace(SLOW, verdict=Verdict.PROGRESSING, summary="")
    assert terminal.render(moving, console()).startswith("PROGRESSING: it moves on\n")
    assert "chain" not in terminal.render(moving, console())


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_words(verdict: Verdict) -> None:
    shown = terminal.render(Diagnosis(Target(None, ""), verdict), console())
    assert re.match(r"[A-Z ]+: \w", shown)
    assert "()" not in shown


@pytest.mark.parametrize("confidence", list(Confidence))
def test_every_confidence_has_words(confidence: Confidence) -> None:
    finding = Finding("some-cause", "something is wrong", confidence)
    shown = terminal.render(Diagnosis(Target(1, "x"), Verdict.STALLED, findings=(finding,)), console())
    assert f"{confidence.value.capitalize()}: " in shown


@pytest.mark.parametrize("width", [20, 40, 80, 132])
def test_lines_keep_to_the_width(width: int) -> None:
    finding = msgspec.structs.replace(SELF_DEADLOCK, where=())
    shown = terminal.render(msgspec.structs.replace(STALLED, findings=(finding,)), console(width=width))
    spare = 20 if width < 80 else 0  # what is indented deeply needs some room
    assert max(map(len, shown.splitlines())) <= width + spare


def test_a_long_path_stays_whole() -> None:
    path = "/mnt/" + "very-long-folder/" * 12 + "data set [v2].py"
    finding = msgspec.structs.replace(SELF_DEADLOCK, where=(Location(path, 30, "f", 1, "main"),))
    shown = terminal.render(msgspec.structs.replace(STALLED, findings=(finding,)), console())
    assert f"  {path}:30\n  main (pid 1) in f, at sample 20." in shown


def test_data_never_commands_the_terminal() -> None:
    shown = terminal.render(hostile(), console(terminal=False))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", shown)
    assert "[bold]evil[/bold]" in shown
    assert ":smile:" in shown
    shown.encode()


def test_a_huge_diagnosis_is_cut() -> None:
    shown = terminal.render(hostile(), console())
    assert "… and 36 more" in shown
    assert len(shown.splitlines()) < 200
    assert len(shown) < 20_000


def test_further_findings_take_a_line_each() -> None:
    others = tuple(
        Finding(f"cause-{n}", "a title that is long " * 9, Confidence.LIKELY, where=SELF_DEADLOCK.where)
        for n in range(5)
    )
    shown = terminal.render(msgspec.structs.replace(STALLED, findings=(SELF_DEADLOCK, *others)), console())
    listed = shown.split("Also found\n")[1].split("\n\n")[0].splitlines()
    assert [line[:24] for line in listed] == ["  • a title that is long"] * 3 + ["  … and 2 more"]
    assert max(map(len, listed)) <= 80


def test_a_long_chain_shows_its_ends() -> None:
    chain = tuple(Link(f"step {n}", f"step {n + 1}", Grade.INFERRED, "stacks") for n in range(30))
    finding = msgspec.structs.replace(SELF_DEADLOCK, chain=chain)
    shown = terminal.render(msgspec.structs.replace(STALLED, findings=(finding,)), console())
    assert "→ … and 23 more" in shown
    assert "step 1 " in shown
    assert "step 30 " in shown


def test_a_chain_that_jumps_says_who_waits() -> None:
    chain = (Link("main", "a pipe", Grade.EXACT, "x"), Link("worker 3", "a lock", Grade.EXACT, "y"))
    finding = msgspec.structs.replace(SELF_DEADLOCK, chain=chain)
    shown = terminal.render(msgspec.structs.replace(STALLED, findings=(finding,)), console())
    assert "→ worker 3: waits for a lock  [exact: y]" in shown


def test_clean_makes_one_harmless_line() -> None:
    assert clean("a\n\tb  c") == "a b c"
    assert clean("a\x1b[0mb") == "a�[0mb"
    assert len(clean("x" * 100_000)) <= 403
    assert clean(HOSTILE).isprintable()
