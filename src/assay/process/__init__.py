"""A process tree: start it, limit it, sample it, end all of it.

`Supervised` is the side that Assay holds. `supervisor` is a separate process, one per run, that owns the tree:
it is a subreaper (prctl(2)), so every descendant stays its descendant however it forks, and it ends the tree
when the pipe to Assay closes, so that a killed Assay leaves nothing behind. What runs inside the supervisor
imports next to nothing: its start is part of every run's cost.
"""
