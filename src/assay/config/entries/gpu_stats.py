from __future__ import annotations

GPU_STATS_INTERVAL_S = 1.0
"""Seconds between two rows of a GPU, where the files say nothing else."""
