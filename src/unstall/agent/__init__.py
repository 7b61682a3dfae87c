"""What `unstall run` puts into the user's processes: beats and last words. Takes no lock, never raises.

site/sitecustomize.py   found by Python at its start, through PYTHONPATH; hands on to the user's own sitecustomize
start.py                opens the record, and waits for torch to be imported
importing.py            runs a hook after a module was imported
hooks.py                the hooks on torch's loader, optimizer and checkpoints
ranks.py                the hooks on what starts the ranks of a distributed training
notes.py                rare things, with the line of the user's code: an epoch that is too long, an iterator asked after its end
words.py                last words: exceptions, with the sample that was being fetched
failing.py              what was at hand when a batch failed: shapes of its samples, open files
unsendable.py           which object could not be sent to a new process
leaving.py              ends without an exception: os._exit, signals that our own code sends, crashes in native code

Standard library only, and relative imports: it is loaded by path, into Pythons that don't have unstall installed.
"""
