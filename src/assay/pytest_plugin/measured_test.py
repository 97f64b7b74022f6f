from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.pytest_plugin.fixture import PytestBenchmark


@dataclass(frozen=True)
class MeasuredTest:
    """What one test measured, in plain values: with pytest-xdist it travels from a worker to who keeps it."""

    name: str
    """The test's id."""
    started: float
    """Unix seconds."""
    seconds: float
    """All of the test that the fixture was there for."""
    workload: str
    """Digest of the test's source."""
    group: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[float, ...] = ()
    """Seconds a call, one value a round."""
    iterations: int = 0
    failed: str = ""
    """Why the test failed; empty where it did not."""

    @classmethod
    def of(cls, item: Any, benchmark: PytestBenchmark, started: float, seconds: float) -> MeasuredTest:
        from assay.record.surroundings.fingerprint import digest

        params = {key: _plain(value) for key, value in getattr(getattr(item, "callspec", None), "params", {}).items()}
        timings = benchmark.timings
        return cls(
            str(item.nodeid),
            started,
            seconds,
            digest(_source(item)),
            benchmark.group,
            params,
            benchmark.metrics,
            timings.samples if timings else (),
            timings.iterations if timings else 0,
        )

    def to_plain(self) -> dict[str, Any]:
        return {**asdict(self), "samples": list(self.samples)}

    @classmethod
    def from_plain(cls, written: Mapping[str, Any]) -> MeasuredTest:
        return cls(**{**written, "samples": tuple(written["samples"])})


def _plain(value: Any) -> str:
    """A parameter as text, without an object's address: it differs from run to run, and no two would have the same
    parameters."""
    written = repr(value)
    return f"<{type(value).__qualname__}>" if " at 0x" in written else written


def _source(item: Any) -> str:
    try:
        return inspect.getsource(item.function)
    except (OSError, TypeError, AttributeError):
        return str(item.nodeid)
