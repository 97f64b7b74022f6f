"""`serving.json` of version 1 as a load writes it, made without a server."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

KINDS = ("ttft_s", "first_output_token_s", "tpot_s", "token_gap_s", "chunk_gap_s", "latency_s")
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def made_point(rate: float = 20.0, seed: int = 0, errors: int = 0, **verdict: str) -> dict[str, Any]:
    rng = random.Random(seed)
    samples = {
        kind: sorted(rng.lognormvariate(-3.5 + at * 0.4, 0.5) for _ in range(400)) for at, kind in enumerate(KINDS)
    }
    metrics = {
        f"{kind}{form}_{share}": values[int(at * 399)]
        for kind, values in samples.items()
        for form in (("", "_from_send") if kind in ("ttft_s", "latency_s") else ("",))
        for share, at in SHARES.items()
    }
    slots = 40
    return {
        "label": f"{rate:g}/s (poisson)",
        "asked": {"scheduler": "poisson", "loop": "open", "rate": rate, "concurrency": None, "words": "x"},
        "delivered": {"rate": rate, "in_flight": 4.0, "share": 0.9996, "scheduled": 400, "lateness_s_p99": 0.0001},
        "verdict": {"valid": not verdict, "of_server": not verdict, **verdict},
        "objectives": [{"objective": "ttft_s p99 within 200 ms", "met": True, "sure": True, "reason": ""}],
        "duration_s": 20.0,
        "client": {"name": "compiled", "cpu_share": 0.0412},
        "counted_by": "usage",
        "metrics": {
            "requests_per_s": rate * 0.99, "goodput_requests_per_s": rate * 0.9, "output_tokens_per_s": rate * 31.7,
            **metrics,
        },
        "errors": {"5xx": errors} if errors else {},
        "histograms": {kind: made_histogram(values) for kind, values in samples.items()},
        "over_time": {
            "slot_s": 0.5,
            "in_flight": [rng.randint(1, 9) for _ in range(slots)],
            "sent_per_s": [rate + rng.random() for _ in range(slots)],
            "requests_per_s": [rate + rng.random() for _ in range(slots)],
            "output_tokens_per_s": [rate * 32 + rng.random() for _ in range(slots)],
            "errors": {"5xx": [errors if at == 7 else 0 for at in range(slots)]} if errors else {},
        },
        "notes": [],
    }  # fmt: skip


def made_histogram(values: list[float]) -> dict[str, Any]:
    low, high, bins = values[0], values[-1] * 1.0001, 40
    edges = [low * math.exp(at * math.log(high / low) / bins) for at in range(bins + 1)]
    counts = [sum(a <= value < b for value in values) for a, b in pairwise(edges)]
    shares = {share: values[int(at * (len(values) - 1))] for share, at in SHARES.items()}
    return {"edges_s": edges, "counts": counts, "quantiles_s": shares, "count": len(values)}


def made_load(**point: Any) -> dict[str, Any]:
    return {
        "version": 1, "endpoint": "http://127.0.0.1:8000/v1/chat/completions", "model": "tiny",
        "points": [made_point(**point)], "curve": None,
        "definitions": {"ttft_s": "arrival of the first token − intended time"},
    }  # fmt: skip


def made_sweep(
    rates: tuple[float, ...] = (10, 20, 40, 80), peak: float | None = 40, slower: float = 1.0
) -> dict[str, Any]:
    points = [made_point(rate, seed=int(rate)) for rate in rates]
    curve = [
        {
            "rate": rate, "concurrency": None, "delivered_share": 1.0, "valid": peak is not None and rate <= peak,
            "saturated": False, "client_bottleneck": False, "errors": 0, "requests_per_s": rate,
            "output_tokens_per_s": rate * 32,
            "times": {
                f"{kind}_{share}": slower * at * 0.02 * (1 + (rate / 60) ** 3)
                for kind in ("ttft_s", "tpot_s", "latency_s") for share, at in SHARES.items()
            },
        }
        for rate in rates
    ]  # fmt: skip
    return {
        **made_load(),
        "points": points,
        "curve": {"points": curve, "peak": {"rate": peak, "bounded": True, "confirmed": True}},
    }


def write_serving_file(folder: Path, written: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "serving.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written), encoding="utf-8")
    return path
