"""`unstall explain`: the page of a cause."""

from __future__ import annotations

import click

from unstall.cli.output import emit


@click.command("explain")
@click.argument("slug", required=False)
def command(slug: str | None) -> None:
    """Explain a cause: what happens, how to recognise it, what to do.

    Without SLUG, list all causes.
    """
    from unstall.reports import pages
    from unstall.workflows import explain

    emit(pages.contents(explain.pages()) if slug is None else pages.page(explain.page(slug)))
