"""A diagnosis for people and for programs. Nothing is printed here: each function returns text.

terminal.py     a diagnosis on one screen of a terminal
pages.py        the page of a cause, and the list of all causes
lines.py        findings of `unstall check`, one line each
json_report.py  JSON, and its published schema (schema/diagnosis-1.json)
screen.py       the terminal itself: width, colours, and text that can't harm it
"""
