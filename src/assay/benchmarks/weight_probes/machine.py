from __future__ import annotations

import ctypes
import gc
import mmap
import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """What the estimates of a profile are made with. Speeds are measured by `probe_machine` before the first suite."""

    cores: int = 1
    available_mb: float = 4096.0
    free_disk_mb: float = 2048.0
    commit_mb_s: float = 40.0
    checkout_mb_s: float = 200.0
    generate_mb_s: float = 150.0
    process_start_s: float = 0.8
    settle_s: float = 0.05
    """Seconds around each version that goes in and out: opening the store, settling, comparing. No speed has it."""

    def chain_s(self, megabytes: float, versions: int = 0) -> float:
        """Seconds to make a chain, commit it and check it out once; with `versions`, settling around each."""
        moved = megabytes / self.generate_mb_s + megabytes / self.commit_mb_s + megabytes / self.checkout_mb_s
        return moved + self.settle_s * versions


def this_machine(scratch: Path | None = None) -> Machine:
    """Cores, memory and disk, without running anything."""
    import shutil
    import tempfile

    free = shutil.disk_usage(scratch or tempfile.gettempdir()).free
    return Machine(cores=len(os.sched_getaffinity(0)), available_mb=_available_bytes() / 1e6, free_disk_mb=free / 1e6)


def probe_machine(store: str, scratch: Path) -> Machine:
    """A small chain through the store, timed. The first pass also compiles and loads what the store needs."""
    from dataclasses import replace

    from assay.benchmarks.weight_probes.fresh_process import start_seconds
    from assay.benchmarks.weight_scenarios.scenario_data import scenario_data
    from assay.benchmarks.weight_scenarios.version_chain import VersionChain, run_chain

    for dtype in ("bfloat16", "float32"):
        run_chain(store, VersionChain(scenario_data("similar", dtype, 50_000, 2)), scratch / f"warm-{dtype}")
    start = time.perf_counter()
    data = scenario_data("similar", "float32", 1_000_000, 2)
    made = time.perf_counter() - start
    chain = VersionChain(data)
    start = time.perf_counter()
    measured = run_chain(store, chain, scratch / "probe")
    took = time.perf_counter() - start
    commit_s, checkout_s = (sum(cost.wall_s for cost in costs) for costs in (measured.commits, measured.checkouts))
    megabytes = data.logical_bytes / 1e6
    return replace(
        this_machine(scratch),
        commit_mb_s=megabytes / max(commit_s, 1e-6),
        checkout_mb_s=megabytes / max(checkout_s, 1e-6),
        generate_mb_s=megabytes / max(made, 1e-6),
        process_start_s=start_seconds(),
        settle_s=max(0.0, took - commit_s - checkout_s) / len(data.versions),
    )


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


_MOST_TOUCHED = 1 << 30


def settle() -> int:
    """Garbage collected and free pages given back: what is left is what something still refers to.

    Says how many objects were unreachable. An operation timed after it pays for the memory it takes, as it would in a
    process that has just started.
    """
    unreachable = gc.collect()
    _give_back()
    return unreachable


def _give_back() -> None:
    ctypes.CDLL(None).malloc_trim(0)


def settle_machine(nbytes: int) -> None:
    """`settle`, then that much memory (at most 1 GB) touched and given back, before an operation that is to be timed.

    A virtual machine returns memory that has been free for seconds to its host, and getting it back takes many times
    as long as clearing it does. Whether an operation meets such memory is chance, and no property of a store.
    """
    settle()
    import numpy as np  # Asking for the machine alone is to stay quick.

    room = np.empty(min(nbytes, _MOST_TOUCHED), np.uint8)
    room[:: mmap.PAGESIZE] = 1
    del room
    _give_back()
