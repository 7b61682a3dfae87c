"""The pages of the causes, and the lines of `unstall check`."""

from __future__ import annotations

import io

from rich.console import Console

from tests.reports.examples import SELF_DEADLOCK
from unstall.reports import lines, pages
from unstall.workflows import explain


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), width=80, force_terminal=terminal, highlight=False, markup=False, emoji=False)


def test_every_cause_is_listed_once() -> None:
    known = explain.pages()
    shown = pages.contents(known, console(terminal=False))
    for one in known:
        assert shown.count(f"  {one.slug} ") == 1
    assert all(f"{one.family}\n" in shown for one in known)


def test_every_page_renders_on_a_terminal_and_in_a_pipe() -> None:
    for one in explain.pages():
        assert one.title in pages.page(one, console(terminal=False))
        assert "Use instead" in pages.page(one, console(terminal=True))


def test_a_page_in_a_pipe_is_plain_markdown() -> None:
    shown = pages.page(explain.page("lock-self-deadlock"), console(terminal=False))
    assert shown.startswith("# lock-self-deadlock: ")
    assert "\n## What happens\n" in shown
    assert "\x1b" not in shown


def test_lines_are_what_editors_understand() -> None:
    assert lines.render([SELF_DEADLOCK]).startswith("/home/ann/data.py:30: lock-self-deadlock: worker 1 waits")
    assert lines.render([SELF_DEADLOCK], folder="/home/ann").startswith("data.py:30: ")
    assert lines.render([SELF_DEADLOCK], folder="/home/an").startswith("/home/ann/data.py:30: ")
    assert lines.render([]) == ""
