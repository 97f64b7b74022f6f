"""guidellm's `benchmarks.json` (src/guidellm/benchmark/schemas, version 0.8): one benchmark a strategy or rate.

Times are milliseconds, but for `request_latency`, which is seconds. Only requests that succeeded count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from assay.history.importers.foreign import (
    PERCENTILES,
    ForeignLoad,
    ForeignSession,
    MalformedForeign,
    count,
    mapping,
    number,
    plain_params,
    text,
)
from assay.record import Environment

_TIMES = {
    "time_to_first_token_ms": ("ttft_s", 1e-3),
    "time_to_first_output_token_ms": ("first_output_token_s", 1e-3),
    "time_per_output_token_ms": ("tpot_s", 1e-3),
    "inter_token_latency_ms": ("itl_s", 1e-3),
    "request_latency": ("latency_s", 1.0),
}
_RATES = {
    "requests_per_second": "requests_per_s",
    "output_tokens_per_second": "output_tokens_per_s",
    "tokens_per_second": "tokens_per_s",
}
_LATEST = 4102444800.0
"""The year 2100: a later start was never measured."""


def is_one(written: Mapping[str, Any]) -> bool:
    benchmarks = written.get("benchmarks")
    return (
        isinstance(benchmarks, list)
        and bool(benchmarks)
        and all("request_latency" in mapping(mapping(one).get("metrics")) for one in benchmarks)
    )


def read(written: Mapping[str, Any], name: str, changed: str) -> ForeignSession:
    about = mapping(written.get("metadata"))
    environment = Environment(os=text(about.get("platform")), python=text(about.get("python_version")))
    version = text(about.get("guidellm_version"))
    loads = list(_loads(written["benchmarks"], version, changed))
    return ForeignSession.of(name, "guidellm", environment, (load.record(name, environment) for load in loads))


def _loads(benchmarks: list[Any], version: str, changed: str) -> Iterator[ForeignLoad]:
    for at, benchmark in enumerate(benchmarks):
        where = f"benchmarks[{at}]"
        config, metrics = mapping(benchmark.get("config")), benchmark["metrics"]
        strategy = mapping(config.get("strategy"))
        kind = text(strategy.get("type_") or strategy.get("type")) or "load"
        asked = strategy.get("rate") if strategy.get("rate") is not None else strategy.get("streams")
        load = ForeignLoad(
            "guidellm",
            f"guidellm {kind}{'' if asked is None else f' {asked}'} #{at + 1}",
            _moment(benchmark.get("start_time"), changed),
            count(benchmark.get("duration") or 0, f"{where}.duration"),
            params=plain_params(strategy=kind, asked=asked, version=version, backend=_backend(config)),
        )
        totals = mapping(metrics.get("request_totals"))
        for key, metric in (("successful", "requests"), ("errored", "errors"), ("incomplete", "incomplete")):
            load.add(metric, totals.get(key), f"{where}.metrics.request_totals.{key}", "requests")
        for key, (metric, scale) in _TIMES.items():
            _add_times(load, metric, mapping(metrics.get(key)), f"{where}.metrics.{key}", scale)
        for key, metric in _RATES.items():
            found = mapping(mapping(metrics.get(key)).get("successful"))
            load.add(metric, found.get("mean"), f"{where}.metrics.{key}.successful.mean", "1/s", "higher")
        yield load


def _add_times(load: ForeignLoad, metric: str, written: Mapping[str, Any], where: str, scale: float) -> None:
    found = mapping(written.get("successful"))
    load.add(f"{metric}_mean", found.get("mean"), f"{where}.successful.mean", "s", "lower", scale)
    percentiles = found.get("percentiles")
    if percentiles is not None and not isinstance(percentiles, Mapping):
        raise MalformedForeign(f"{where}.successful.percentiles is not a mapping")
    for percentile in PERCENTILES:
        value = mapping(percentiles).get(percentile)
        load.add(f"{metric}_{percentile}", value, f"{where}.successful.percentiles.{percentile}", "s", "lower", scale)


def _moment(written: Any, changed: str) -> str:
    """Seconds since 1970; where it is none, when the file was changed."""
    if written is None or not 0 < number(written, "start_time") < _LATEST:
        return changed
    return datetime.fromtimestamp(written, UTC).isoformat()


def _backend(config: Mapping[str, Any]) -> str:
    backend = mapping(config.get("backend"))
    return text(backend.get("target"))
