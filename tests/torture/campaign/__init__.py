"""`make torture MINUTES=N`: attacks on everything that Assay promises to survive, drawn at random for as long as asked.

An attack is of a kind (`kind.py`): it draws cases and tries them. `fuzz/` damages files that Assay reads; `faults/`
kills, stops, starves and races its processes. A case is a small JSON document, so what it found can be written down
and tried again: `tests/torture/findings` holds those, and `make test-slow` replays them.
"""
