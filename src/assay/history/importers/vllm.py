"""`vllm bench serve --save-result` (vllm/benchmarks/serve.py): one flat object, times in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from assay.history.importers.foreign import ForeignLoad, ForeignSession, count, plain_params
from assay.record import Environment

_TIMES = {"ttft": "ttft_s", "tpot": "tpot_s", "itl": "itl_s", "e2el": "latency_s"}
_STATISTIC = re.compile(r"(mean|median|p[0-9]{1,2}(?:\.[0-9]{1,3})?)_(ttft|tpot|itl|e2el)_ms")
_SINGLE: dict[str, tuple[str, str, Literal["higher", "lower", ""]]] = {
    "request_throughput": ("requests_per_s", "1/s", "higher"),
    "request_goodput": ("goodput_requests_per_s", "1/s", "higher"),
    "output_throughput": ("output_tokens_per_s", "1/s", "higher"),
    "total_token_throughput": ("tokens_per_s", "1/s", "higher"),
    "completed": ("requests", "requests", ""),
    "failed": ("errors", "requests", "lower"),
}
_SETTINGS = ("backend", "endpoint_type", "model_id", "num_prompts", "request_rate", "burstiness", "max_concurrency")


def is_one(written: Mapping[str, Any]) -> bool:
    return {"request_throughput", "completed", "duration"} <= written.keys() and not isinstance(
        written["request_throughput"], Mapping
    )


def read(written: Mapping[str, Any], name: str, changed: str) -> ForeignSession:
    environment = Environment()
    label = written.get("label") or written.get("backend") or written.get("endpoint_type")
    rate, most = written.get("request_rate"), written.get("max_concurrency")
    words = ["vllm bench serve", *([str(label)[:80]] if label else []), *([f"{rate} a second"] if rate else [])]
    load = ForeignLoad(
        "vllm",
        " ".join([*words, *([f"at most {most} at once"] if most else [])]),
        _moment(written.get("date"), changed),
        count(written["duration"], "duration"),
        params=plain_params(**{key: written.get(key) for key in _SETTINGS}),
    )
    for key, (metric, unit, better) in _SINGLE.items():
        load.add(metric, written.get(key), key, unit, better)
    for key in written:
        found = _STATISTIC.fullmatch(key)
        if found:
            part = "p50" if found[1] == "median" else found[1].replace(".", "_")
            load.add(f"{_TIMES[found[2]]}_{part}", written[key], key, "s", "lower", 1e-3)
    return ForeignSession.of(name, "vllm bench serve", environment, [load.record(name, environment)])


def _moment(written: Any, changed: str) -> str:
    """`20261117-221500`, of the machine's own clock: taken for UTC, since the file does not say."""
    try:
        return datetime.strptime(str(written), "%Y%m%d-%H%M%S").replace(tzinfo=UTC).isoformat()
    except ValueError:
        return changed
