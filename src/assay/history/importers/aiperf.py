"""aiperf's `profile_export_aiperf.json` (src/aiperf/exporters, version 0.13): a quantity has `unit`, `avg`, `p50` …"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from assay.history.importers.foreign import (
    PERCENTILES,
    ForeignLoad,
    ForeignSession,
    MalformedForeign,
    count,
    mapping,
    plain_params,
    text,
    utc,
)
from assay.record import Environment

_TIMES = {
    "time_to_first_token": "ttft_s",
    "time_to_first_output_token": "first_output_token_s",
    "time_to_second_token": "second_token_s",
    "inter_token_latency": "itl_s",
    "inter_chunk_latency": "chunk_gap_s",
    "request_latency": "latency_s",
}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}
_SINGLE: dict[str, tuple[str, str, Literal["higher", "lower", ""]]] = {
    "request_throughput": ("requests_per_s", "1/s", "higher"),
    "output_token_throughput": ("output_tokens_per_s", "1/s", "higher"),
    "total_token_throughput": ("tokens_per_s", "1/s", "higher"),
    "goodput": ("goodput_requests_per_s", "1/s", "higher"),
    "request_count": ("requests", "requests", ""),
    "error_request_count": ("errors", "requests", "lower"),
}


def is_one(written: Mapping[str, Any]) -> bool:
    return "aiperf_version" in written or (
        "input_config" in written and "avg" in mapping(written.get("request_latency"))
    )


def read(written: Mapping[str, Any], name: str, changed: str) -> ForeignSession:
    environment = Environment()
    config = mapping(written.get("input_config"))
    endpoint = mapping(config.get("endpoint"))
    duration = mapping(written.get("benchmark_duration")).get("avg")
    load = ForeignLoad(
        "aiperf",
        "aiperf profile",
        utc(written.get("start_time"), changed),
        count(duration or 0, "benchmark_duration.avg"),
        command=text(mapping(written.get("run_info")).get("cli_command")),
        params=plain_params(
            version=written.get("aiperf_version"), endpoint=endpoint.get("type"), streaming=endpoint.get("streaming")
        ),
    )
    for key, metric in _TIMES.items():
        _add_times(load, metric, written.get(key), key)
    for key, (metric, unit, better) in _SINGLE.items():
        load.add(metric, mapping(written.get(key)).get("avg"), f"{key}.avg", unit, better)
    if not load.metrics:
        raise MalformedForeign("it holds no metric")
    return ForeignSession.of(name, "aiperf", environment, [load.record(name, environment)])


def _add_times(load: ForeignLoad, metric: str, written: Any, key: str) -> None:
    if written is None:
        return
    found = mapping(written)
    scale = _SECONDS.get(text(found.get("unit")))
    if scale is None:
        raise MalformedForeign(f"{key}.unit is {found.get('unit')!r}, which is not a unit of time")
    for part, name in (("avg", "mean"), *((percentile, percentile) for percentile in PERCENTILES)):
        load.add(f"{metric}_{name}", found.get(part), f"{key}.{part}", "s", "lower", scale)
