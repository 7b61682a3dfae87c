"""A diagnosis on one screen of a terminal: verdict, place, chain, proof, advice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unstall.model.diagnosis import Diagnosis, Verdict
from unstall.model.finding import Confidence, Fact, Finding, Link, Location, Remedy
from unstall.reports.screen import as_text, clean, hang, open_console, shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

MOST_LINKS = 7
MOST_FACTS = 4
MOST_REMEDIES = 3
MOST_SNIPPET_LINES = 5
MOST_CALLERS = 1
MOST_OTHERS = 3
MOST_UNEXAMINED = 2

_STYLES = {
    Verdict.STALLED: "bold red",
    Verdict.CRASHED: "bold red",
    Verdict.NOT_LEARNING: "bold yellow",
    Verdict.SLOW: "bold yellow",
    Verdict.PROGRESSING: "bold green",
    Verdict.FINISHED: "bold green",
    Verdict.UNKNOWN: "bold magenta",
}
_MEANING = {
    Confidence.CERTAIN: "Certain: the mechanism was observed.",
    Confidence.LIKELY: "Likely: known from this cause alone.",
    Confidence.POSSIBLE: "Possible: other causes fit too.",
}
_UNKNOWN = "The cause is not known; the chain of waits is."
_OUTCOME = {
    Verdict.STALLED: "the training waits for something that will not come",
    Verdict.SLOW: "it moves on, but slowly",
    Verdict.PROGRESSING: "it moves on",
    Verdict.NOT_LEARNING: "it runs, but does not learn",
    Verdict.CRASHED: "the training has ended with an error",
    Verdict.FINISHED: "the training has ended",
    Verdict.UNKNOWN: "too little could be seen to say what it does",
}
_HELD = re.compile(r"(perhaps )?(\w+|not joined) by ")
_THREAD = re.compile(r".*?\(pid \d+\)")


def render(diagnosis: Diagnosis, console: Console | None = None) -> str:
    """The whole report, as text. Where it would not fit the screen, without its empty lines."""
    console = console or open_console()
    groups = _groups(console, diagnosis)
    report = as_text(console, [_text("\n").join(_joined(group) for group in groups)])
    if console.is_terminal and report.count("\n") >= console.height:
        return as_text(console, [_joined(group) for group in groups])
    return report


def _joined(parts: list[Text]) -> Text:
    return _text().join(parts)


def _groups(console: Console, diagnosis: Diagnosis) -> list[list[Text]]:
    """The parts of the report that stand together."""
    first = diagnosis.findings[0] if diagnosis.findings else None
    groups = [_head(console, diagnosis, first)]
    if first:
        groups.append(_section("The chain of waits", _chain(console, first.chain)))
        facts = [_fact(console, one, first) for one in first.because]
        groups.append(_section("How we know", shorten(facts, MOST_FACTS)))
        remedies = [_remedy(console, number, one) for number, one in enumerate(first.remedies, 1)]
        groups.append(_section("What to do", shorten(remedies, MOST_REMEDIES)))
    elif diagnosis.verdict not in (Verdict.PROGRESSING, Verdict.FINISHED):
        groups.append(_section("The chain of waits", _chain(console, diagnosis.chain)))
    others = [_other(console, one) for one in diagnosis.findings[1:]]
    groups.append(_section("Also found", shorten(others, MOST_OTHERS)))
    hidden = [hang(console, "• ", _sentence(f"{one.what}: {one.why}", one.hint), 2) for one in diagnosis.unexamined]
    groups.append(_section("Not examined", shorten(hidden, MOST_UNEXAMINED)))
    groups.append([_foot(console, diagnosis, first)])
    return [group for group in groups if group]


def _text(text: str = "", style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style=style)


def _quoting(text: str) -> Text:
    """Text in which `code` stands out."""
    found = _text(text)
    found.highlight_regex(r"`[^`]+`", "cyan")
    return found


def _sentence(statement: str, aside: str) -> Text:
    """A statement, and in brackets and dimmed what stands behind it."""
    text = _quoting(clean(statement))
    if aside:
        text.append(f"  [{clean(aside)}]", style="dim")
    return text


def _section(heading: str, items: list[Text]) -> list[Text]:
    return [_text(f"{heading}\n", "bold"), *items] if items else []


def _head(console: Console, diagnosis: Diagnosis, first: Finding | None) -> list[Text]:
    word = diagnosis.verdict.value.upper().replace("-", " ")
    title = clean(first.title) if first else ""
    summary = clean(diagnosis.summary) or title or _OUTCOME[diagnosis.verdict]
    parts = [hang(console, f"{word}: ", _quoting(summary))]
    parts[0].stylize(_STYLES[diagnosis.verdict], 0, len(word) + 1)
    if first is None:
        return parts
    if title != summary:
        parts.append(hang(console, "  ", _quoting(title)))
    return parts + _where(console, first)


def _where(console: Console, finding: Finding) -> list[Text]:
    """The guilty line, early in a line so that it can be clicked and copied, and who stands there."""
    place = finding.where[0] if finding.where else None
    sample = f"at sample {clean(finding.sample, 60)}" if finding.sample is not None else ""
    about: list[str] = [sample]
    parts: list[Text] = []
    if place is not None:
        number = f" (pid {place.pid})" if place.pid is not None else ""
        about = [clean(f"{place.role}{number}"), sample]
        line = _text(f"  {_place(place)}", "bold")
        if len(line) + len(_function(place)) <= console.width:
            line.append(_function(place), style="not bold")
        else:
            about[0] += _function(place)
        parts.append(line.append("\n"))
        for caller in finding.where[1 : 1 + MOST_CALLERS]:
            called = f"  {'see also' if _is_beside(caller, place) else 'called from'} {_place(caller)}"
            fits = len(called) + len(_function(caller)) <= console.width
            parts.append(_text(called + (_function(caller) if fits else "") + "\n", "dim"))
    meaning = _UNKNOWN if finding.cause == "unknown-wait" else _MEANING[finding.confidence]
    said = ", ".join(one.strip() for one in about if one.strip())
    said = f"{said[0].upper()}{said[1:]}. " if said and place is None else f"{said}. " if said else ""
    return [*parts, hang(console, "  ", _text(said + meaning))]


def _is_beside(other: Location, place: Location) -> bool:
    """Another line of the same function, or of another process: that does not call it."""
    return (other.file, other.function) == (place.file, place.function) or other.role != place.role


def _place(place: Location) -> str:
    return f"{clean(place.file)}:{place.line}"


def _function(place: Location) -> str:
    return f" in {clean(place.function, 120)}" if place.function else ""


def _chain(console: Console, chain: tuple[Link, ...]) -> list[Text]:
    """The steps from the training loop to the root, each a little deeper than the last."""
    if not chain:
        return []
    steps = _steps(chain)
    items = [hang(console, "", _quoting(clean(chain[0].who)), 2)]
    tail = MOST_LINKS // 2
    left_out = len(steps) - MOST_LINKS
    shown = steps if left_out <= 0 else [*steps[: MOST_LINKS - tail], ("", ""), *steps[-tail:]]
    for depth, (words, source) in enumerate(shown, 1):
        text = _sentence(words, source) if words else _text(f"… and {left_out} more", "dim")
        items.append(hang(console, "→ ", text, 2 + 2 * depth))
    return items


def _steps(chain: tuple[Link, ...]) -> list[tuple[str, str]]:
    """Each step in words, and how it is known."""
    steps: list[tuple[str, str]] = []
    known: list[str] = []
    before = ""
    for link in chain:
        words = link.waits_for if _HELD.match(link.waits_for) else f"waits for {link.waits_for}"
        known.append(link.who)
        again = next((one for one in known if _THREAD.match(one) and words.endswith(one)), None)
        if again is not None:  # a thread that stands further up: its place was already said there
            name = _THREAD.match(again)
            words = words.removesuffix(again) + (name.group() if name else again) + ": full circle"
        if before and not before.endswith(link.who):
            words = f"{link.who}: {words}"
        steps.append((clean(words), f"{link.grade}: {link.source}"))
        before = link.waits_for
    return steps


def _fact(console: Console, fact: Fact, finding: Finding) -> Text:
    """A fact. Files whose full path stands at the top are called by their name."""
    statement = fact.statement
    for place in finding.where[: 1 + MOST_CALLERS]:
        statement = statement.replace(place.file, place.file.rsplit("/", 1)[-1]) if place.file else statement
    return hang(console, "• ", _sentence(statement, fact.source), 2)


def _remedy(console: Console, number: int, remedy: Remedy) -> Text:
    stop = " " if remedy.action.endswith((".", "?", "!")) else ": "
    words = f"{remedy.action}{stop}{remedy.why}" if remedy.why else remedy.action
    item = hang(console, f"{number}. ", _quoting(clean(words)), 2)
    lines = (remedy.snippet or "").splitlines()
    for line in lines[:MOST_SNIPPET_LINES]:
        indent = len(line) - len(line.lstrip(" "))
        item.append(" " * (5 + min(indent, 40)) + clean(line), style="cyan").append("\n")
    if len(lines) > MOST_SNIPPET_LINES:
        item.append(f"     … and {len(lines) - MOST_SNIPPET_LINES} more lines\n", style="dim")
    return item


def _other(console: Console, finding: Finding) -> Text:
    """Another finding, on one line."""
    place = f" at {_place(finding.where[0])}" if finding.where else ""
    text = _text(f"  • {clean(finding.title)} ({finding.confidence}, {clean(finding.cause, 60)}){place}")
    text.truncate(console.width, overflow="ellipsis")
    return text.append("\n")


def _foot(console: Console, diagnosis: Diagnosis, first: Finding | None) -> Text:
    """What to read next, and what was looked at."""
    target = diagnosis.target
    looked = f"looked at pid {target.pid} for {diagnosis.took_s:.1f} s: " if target.pid is not None else ""
    more = _text()
    if first:
        more.append("More: ").append(f"unstall explain {clean(first.cause, 60)}", style="cyan").append("   ")
    if looked or target.command:
        more.append(f"({looked}{clean(target.command, 200)})", style="dim")
    more.truncate(console.width, overflow="ellipsis")
    return more.append("\n")
