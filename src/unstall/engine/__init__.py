"""The engine: from evidence to a diagnosis. Pure functions, no I/O.

waits.py      what each thread waits for
links.py      the wait graph: from each wait to what it waits for, and to who has that
collectives.py  ranks in the graph: from a call to those who have not come to it
stalls.py     the ends of the chains that begin at the training loop
progress.py   is it stuck at all?
diagnose.py   diagnose(bundle, causes) → Diagnosis
"""

from unstall.engine.diagnose import diagnose

__all__ = ["diagnose"]
