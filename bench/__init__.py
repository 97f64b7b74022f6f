"""Measurements of Assay by itself: `make bench-NAME` runs `bench/NAME.py`."""
