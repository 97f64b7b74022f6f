from __future__ import annotations

from assay.native.library import absence, kernel
from assay.record.benchmark import Benchmark


def note_kernel(results: Benchmark, without: str) -> None:
    """Which compiled code runs, as a parameter: runs with different code are not comparable, and their fingerprints
    differ. `without`: what a run is like where there is none, said as a warning.
    """
    results.params(kernel=kernel())
    why = absence()
    if why is not None:
        results.warn(f"{without}: {why}")
