"""`unstall run`: supervise a training, diagnose its stalls while they happen, explain its end.

launch.py    starts the training, passes signals on, ends as it ended, leaves no worker behind
watch.py     notices by the beats that nothing moves, and when to look
pace.py      where the time goes, and when that is worth a look
slowness.py  judges the pace: what crawls, and what goes on without an end
usage.py     memory that the training uses, to explain an end for want of it
nodes.py     several machines: what their supervisors tell each other
history.py   the run's folder: records, bundles, report; bounded in number and size
session.py   one supervised run, from start to end
"""
