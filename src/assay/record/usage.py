from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from assay.untrusted.written import Written

_WHOLE = ("peak_threads", "peak_processes", "samples")


@dataclass(frozen=True)
class Usage:
    """What a run's whole process tree used. What it asked for is a `Resources`."""

    wall_s: float = 0.0
    """Seconds from the start to the end of the last process; `exec_time_s` unless the program left some behind."""
    cpu_s: float = 0.0
    """CPU seconds of every process, from the kernel's accounts: exact, however short the run."""
    cpu_user_s: float = 0.0
    cpu_system_s: float = 0.0
    peak_rss_mb: float = 0.0
    mean_rss_mb: float = 0.0
    read_mb: float = 0.0
    write_mb: float = 0.0
    peak_threads: int = 0
    peak_processes: int = 0
    steal_share: float = 0.0
    """Share of the machine's CPU time during the run that the hypervisor gave to others."""
    neighbour_cpu_s: float = 0.0
    """CPU time that processes outside the run used meanwhile."""
    throttled_s: float = 0.0
    """Time the run's control group was held back by its CPU quota."""
    gpu_peak_memory_mb: float | None = None
    gpu_mean_utilisation: float | None = None
    samples: int = 0
    """Number of samples; 0 for a run that ended before the first, after 25 ms. The sums above do not rest on them."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, written: Mapping[str, Any] | Written) -> Usage:
        given = written if isinstance(written, Written) else Written(written)
        there = [f.name for f in fields(cls) if f.name in given]
        values: dict[str, Any] = {name: given.whole(name) if name in _WHOLE else given.number(name) for name in there}
        return cls(**values)
