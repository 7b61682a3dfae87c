"""Probes collect evidence: one file per kind, named like the file in evidence/. They read, and pause nobody.

procfs.py       what /proc says, parsed
python/         the interpreter state of a running Python, through /proc/<pid>/mem
spy.py          the same through py-spy, where python/ does not know the interpreter
processes.py    finds the training's root process and its tree
threads.py      system calls, CPU and context switches, in several readings
stacks.py       samples stacks and folds them into frames that know what moved
importedcode.py functions of the user's other modules that those call
patterns.py     whether the regular expression that a thread is busy with is ambiguous
code.py         the text of the user's functions, without comments and strings
loaders.py      DataLoader iterators and their workers
ranks.py        the ranks of a distributed training, and their calls
launchers.py    the process that started a rank, and the other ranks
manysamples.py  which sample of many a `__getitems__` is at
locks.py        locks and their holders (semaphores.py, mutexes.py, filelocks.py)
descriptors.py  pipes, FIFOs, sockets, files (network.py)
memory.py       memory, /dev/shm, out-of-memory kills
endings.py      how a supervised training ended, from what its processes left in the run's folder
timings.py      where its time went, from its flight records
costs.py        samples a training that runs: the lines that make samples, and who has the GIL
collect.py      all of them, in order, within a time limit: a bundle
"""
