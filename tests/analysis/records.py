"""Records as a session would leave them, with values a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.record import Fingerprint, Outcome, Record, Usage


def record(
    entry: str = "entry",
    metrics: Mapping[str, Any] | None = None,
    *,
    session: str = "base",
    run: int = 1,
    day: int = 1,
    outcome: Outcome = Outcome.PASSED,
    params: Mapping[str, Any] | None = None,
    machine: str = "m",
    usage: Usage | None = None,
    commit: str | None = None,
    **more: Any,
) -> Record:
    return Record(
        name=entry,
        session=session,
        run_id=f"{session}/{entry}/run-{run:02d}",
        outcome=outcome,
        started_at=f"2026-01-{day:02d}T00:{run:02d}:00+00:00",
        fingerprint=Fingerprint(entry, str(sorted((params or {}).items())), "1", machine),
        exec_time_s=1.0,
        script_metrics=metrics or {},
        script_params=params or {},
        repeat=run,
        usage=usage or Usage(),
        git_commit=commit,
        **more,
    )


def side(values: Sequence[float], metric: str = "time_taken_s", **more: Any) -> list[Record]:
    return [record(metrics={metric: float(value)}, run=i + 1, **more) for i, value in enumerate(values)]


def noisy(level: float, noise: float = 0.01, n: int = 10, seed: int = 0) -> np.ndarray:
    return level * np.exp(np.random.default_rng(seed).normal(0, noise, n))
