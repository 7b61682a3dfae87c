"""What can be known about a training: one file per kind of evidence. Plain data and pure functions, no I/O.

Collected by the probe of the same name:
processes.py    who runs: the process tree, states, exits
threads.py      what each thread asks of the kernel: system call, CPU, context switches, in several readings
stacks.py       Python stacks, and what moved in them between samples
locks.py        locks of every sort, with their holders
descriptors.py  pipes, FIFOs, sockets, files, terminals, and who is at the other end
ranks.py        the ranks of a distributed training, and the call of torch.distributed that each is in
loaders.py      torch's DataLoader: which worker owes which batch, and which sample it is at
memory.py       memory, /dev/shm, the kernel's out-of-memory messages
code.py         the user's functions that are on a stack, as text without comments and strings
steps.py        training steps: loss and gradients
endings.py      how a supervised training ended: last words, exit statuses, last beats (rank_endings.py: of which rank)
timings.py      where a supervised training's time went (loading.py: does it wait for its data, and which line costs most)

Derived from them:
syntax.py       questions about code: loops, exits, calls
loop_limits.py  whether a loop counts its rounds or looks at a clock
arithmetic.py   loops that count in equal steps past their goal
influence.py    what can still change in a loop
ambiguity.py    can a regular expression match one text in exponentially many ways?
apart.py        how two ranks that wait for each other have come apart
found.py        what the other causes say of a stall
stall.py        Stall: one end of the chain of waits, with all that is known about it
"""
