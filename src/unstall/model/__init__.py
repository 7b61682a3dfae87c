"""The vocabulary: plain data that every other layer speaks. No I/O here.

finding.py    Finding and its parts: Confidence, Location, Link (one step of a chain), Fact, Remedy
diagnosis.py  Diagnosis: verdict, findings, what could not be examined
cause.py      Cause, and the `@cause.detector` decorator
evidence.py   Evidence, the base class of everything that a probe saw
bundle.py     Bundle: the evidence of one moment, as one JSON document
document.py   plain data as JSON
graph.py      WaitGraph: who waits for whom, held by whom
"""
