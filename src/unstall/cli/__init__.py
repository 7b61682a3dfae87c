"""The commands. Each file is imported when its command is called, and imports what is heavy when it runs.

app.py      the group of commands; errors become two calm lines and an exit code
output.py   writes to stdout, and bears that nobody reads
why.py      unstall why (PID | BUNDLE.json)
explain.py  unstall explain [SLUG]
demo.py     unstall demo [SLUG]
check.py    unstall check PATH…
"""

from unstall.cli.app import main

__all__ = ["main"]
