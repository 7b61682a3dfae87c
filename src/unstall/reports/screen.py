"""The terminal: its width and colours, and text made safe for it. Reports may show data of a hostile bundle."""

from __future__ import annotations

import io
import os
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LONGEST = 400
_HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def open_console() -> Console:
    """A console like stdout in width and colours, which writes nothing there. With NO_COLOR, plain text."""
    from rich.console import Console

    stdout = Console()
    plain = bool(os.environ.get("NO_COLOR")) or not stdout.is_terminal
    return Console(
        file=io.StringIO(),
        width=stdout.width,
        height=stdout.height,
        force_terminal=stdout.is_terminal,
        color_system=None if plain else stdout.color_system,  # type: ignore[arg-type]  # rich's own name for it
        highlight=False,
        markup=False,
        emoji=False,
    )


def clean(text: object, longest: int = LONGEST) -> str:
    """One line of text without characters that command a terminal; the middle of a very long one is cut out."""
    words = " ".join(str(text)[: longest * 50].split())
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(one) in _HARMFUL else one for one in words)
    if len(shown) <= longest:
        return shown
    return f"{shown[: longest // 2]} … {shown[-longest // 2 :]}"


def hang(console: Console, head: str, text: Text, indent: int = 0) -> Text:
    """A paragraph that begins with `head`, and whose further lines stand below its first word."""
    from rich.text import Text

    margin = indent + len(head)
    lines = text.wrap(console, max(20, console.width - margin))
    paragraph = Text()
    for number, line in enumerate(lines):
        line.rstrip()
        paragraph.append(" " * indent + (head if number == 0 else " " * len(head)))
        paragraph.append_text(line)
        paragraph.append("\n")
    return paragraph


def shorten(items: list[Text], most: int, indent: int = 2) -> list[Text]:
    """The first of many items, and how many more there are."""
    from rich.text import Text

    if len(items) <= most:
        return items
    return [*items[:most], Text(f"{' ' * indent}… and {len(items) - most} more\n", style="dim")]


def as_text(console: Console, parts: list[Text]) -> str:
    """The parts as they go to the terminal. Long words, such as paths, stay whole: the terminal breaks them."""
    with console.capture() as capture:
        for part in parts:
            console.print(part, end="", soft_wrap=True)
    return capture.get()
