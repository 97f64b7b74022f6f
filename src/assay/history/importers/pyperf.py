"""pyperf's JSON: a benchmark has runs (processes) with values; metadata of the suite, the benchmark and each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.history.importers.foreign import ForeignSession, MalformedForeign, Timed, cores, mapping, seconds, text, utc
from assay.record import Environment


def is_one(written: Mapping[str, Any]) -> bool:
    benchmarks = written.get("benchmarks")
    return isinstance(benchmarks, list) and all(isinstance(b, Mapping) and "runs" in b for b in benchmarks)


def read(written: Mapping[str, Any], name: str, changed: str) -> ForeignSession:
    common = mapping(written.get("metadata"))
    benchmarks = list(_read_benchmarks(written["benchmarks"], common, changed))
    first = _first_metadata(written["benchmarks"], common)
    environment = Environment(
        host=text(first.get("hostname")),
        os=text(first.get("platform")),
        cpu_model=text(first.get("cpu_model_name")),
        cores=cores(first.get("cpu_count")),
        python=text(first.get("python_version")),
    )
    return ForeignSession.build(name, "pyperf", environment, benchmarks)


def _read_benchmarks(benchmarks: list[Any], common: Mapping[str, Any], changed: str) -> Iterator[Timed]:
    for number, benchmark in enumerate(benchmarks):
        about = {**common, **mapping(benchmark.get("metadata"))}
        where = f"benchmarks[{number}]"
        if about.get("unit", "second") != "second":
            raise MalformedForeign(f"{where} is measured in {about['unit']!r}; only seconds are read")
        if not isinstance(benchmark["runs"], list):
            raise MalformedForeign(f"{where}.runs is not a list")
        runs = [mapping(run) for run in benchmark["runs"]]
        values = [value for at, run in enumerate(runs) for value in _values(run, f"{where}.runs[{at}].values")]
        dates = [mapping(run.get("metadata")).get("date") for run in runs]
        at = next((date for date in dates if date), about.get("date"))
        yield Timed(
            name=text(about.get("name") or f"benchmark {number}"),
            seconds=seconds(values, f"{where}: its values"),
            started_at=utc(at, changed),
            command=text(about.get("command")),
        )


def _values(run: Mapping[str, Any], where: str) -> list[Any]:
    """Values of a run; none where it only calibrated."""
    values = run.get("values")
    if values is not None and not isinstance(values, list):
        raise MalformedForeign(f"{where} is not a list of times")
    return values or []


def _first_metadata(benchmarks: list[Any], common: Mapping[str, Any]) -> Mapping[str, Any]:
    for benchmark in benchmarks:
        for run in benchmark["runs"]:
            found: Mapping[str, Any] = {**common, **mapping(benchmark.get("metadata")), **mapping(run.get("metadata"))}
            return found
    return common
