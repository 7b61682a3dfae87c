"""The page of a cause, and the list of all causes: Markdown on a terminal, plain text in a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from unstall.reports.screen import as_text, clean, hang, open_console

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 100


class CausePage(Protocol):
    """What is shown of a cause."""

    @property
    def slug(self) -> str:
        """Its name."""

    @property
    def title(self) -> str:
        """What it is, in one line."""

    @property
    def family(self) -> str:
        """What it belongs to."""

    @property
    def text(self) -> str:
        """Its page, in Markdown."""


def contents(pages: Iterable[CausePage], console: Console | None = None) -> str:
    """All causes, by family."""
    from rich.text import Text

    console = console or open_console()
    known = list(pages)
    wide = max((len(one.slug) for one in known), default=0)
    parts: list[Text] = []
    family = None
    for one in known:
        if one.family != family:
            parts.append(Text(f"{chr(10) if parts else ''}{one.family}\n", style="bold"))
            family = one.family
        head = f"  {one.slug:{wide}}  "
        if console.is_terminal:
            line = hang(console, head, Text(clean(one.title)))
        else:
            line = Text(f"{head}{clean(one.title)}\n")
        line.stylize("cyan", 0, len(head))
        parts.append(line)
    return as_text(console, parts)


def page(one: CausePage, console: Console | None = None) -> str:
    """One cause."""
    console = console or open_console()
    heading = f"{one.slug}: {one.title}"
    if not console.is_terminal:
        return f"# {heading}\n\n{one.text.strip()}\n"
    from rich.markdown import Markdown
    from rich.text import Text

    with console.capture() as capture:
        console.print(Text(heading, style="bold"))
        console.print()
        console.print(Markdown(one.text, code_theme="ansi_dark"), width=min(console.width, WIDEST))
    return capture.get()
