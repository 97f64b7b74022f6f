from __future__ import annotations

from dataclasses import replace

from assay.session.kept.results import ProgramResults
from assay.session.service.served_run import ServedRun


def with_service_metrics(results: ProgramResults, served: ServedRun | None) -> ProgramResults:
    """What was measured of a service beside what its program measured; of two with one name the program's counts."""
    if served is None:
        return results
    both = sorted(served.metrics.keys() & results.metrics.keys())
    warnings = [
        f"{name} is the program's; what was measured of the service under that name is left out" for name in both
    ]
    own = {name: value for name, value in served.metrics.items() if name not in both}
    return replace(results, metrics={**results.metrics, **own}, warnings=[*results.warnings, *warnings])
