"""`unstall explain`: the pages of the causes, and where to find them."""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass

from unstall import causes
from unstall.errors import UsageError

UNKNOWN_WAIT = """The training waits, and no known cause fits.

## What happens
Nothing moves, and `unstall` followed the chain of waits to its end. What it found there fits none of the causes
that it knows. It says so rather than guess.

## How to recognise it
By the chain itself: its last line names what is waited for. Ask what should end this wait, and whether that
still runs.

## Use instead
```
unstall why PID --save stall.json
```
and attach the file to a bug report, so that this cause gets a name. Look into the file first: it has paths and
command lines of your machine.
"""


@dataclass(frozen=True)
class Page:
    """What `unstall explain` shows about one cause."""

    slug: str
    title: str
    family: str
    text: str


def pages() -> list[Page]:
    """The page of every cause, by family."""
    found = [
        Page(slug, module.cause.title, _family(module.__name__), inspect.cleandoc(module.__doc__ or ""))
        for slug, module in causes.modules().items()
    ]
    found.append(Page("unknown-wait", "The training waits, and no known cause fits", "unknown", UNKNOWN_WAIT))
    return sorted(found, key=lambda one: (one.family == "unknown", one.family, one.slug))


def page(slug: str) -> Page:
    """The page of one cause."""
    known = {one.slug: one for one in pages()}
    if slug not in known:
        raise UsageError(f"there is no cause {slug!r}", hint=suggest(slug, list(known), "unstall explain"))
    return known[slug]


def suggest(slug: str, known: list[str], command: str) -> str:
    """A hint that names the nearest slugs, or the command that lists all of them."""
    near = difflib.get_close_matches(slug.lower().replace("_", "-").replace(" ", "-"), known, n=3, cutoff=0.5)
    if near:
        return "did you mean " + " or ".join(f"`{command} {one}`" for one in near) + "?"
    return "`unstall explain` lists all causes"


def _family(module: str) -> str:
    package, _, rest = module.partition(".causes.")
    return rest.split(".")[0] if package == "unstall" and "." in rest else f"from {module.split('.')[0]}"
