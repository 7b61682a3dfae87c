"""The flight record: one small file per process, written by the training, readable when it is stuck or dead.

layout.py   what stands where
writer.py   writes beats: plain integer stores into mapped memory, no lock, no clock per sample
reader.py   reads records, also of processes that were killed

Standard library only, and relative imports: `unstall run` puts it into Pythons that don't have unstall installed.
"""
