"""Metrics as suites of weight stores write them, made up: four stores, one of which is beaten in size and speed."""

from __future__ import annotations

from typing import Any

STORES = {"assay-balanced": (1.0, 210.0, 640.0), "zstd": (0.55, 320.0, 900.0), "safetensors": (0.0, 1400.0, 2600.0)}
"""How much of the limit is reached, and megabytes per CPU-second of a commit and of a checkout."""
BEATEN = "h5py-gzip"
SCENARIOS = {"similar": 11.9, "checkpoints": 4.3, "transfer": 2.1, "frozen": 3.4}
"""Ratio at the entropy limit."""
DTYPES = ("float32", "bfloat16")


def weight_metrics() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for scenario, limit in SCENARIOS.items():
        for dtype in DTYPES:
            for store, (reached, commit, checkout) in {**STORES, BEATEN: (0.3, 24.0, 150.0)}.items():
                ratio = 1 + (limit - 1) * reached * 0.97
                at = f"compression.{scenario}.{store}.{dtype}"
                slower = 1.0 if dtype == "float32" else 0.8
                found |= {
                    f"{at}.compression_ratio": _metric(ratio, "x", "higher"),
                    f"{at}.limit_ratio": _metric(limit, "x"),
                    f"{at}.of_limit": _metric(100 * ratio / limit, "%", "higher"),
                    f"{at}.space_saved": _metric(100 - 100 / ratio, "%", "higher"),
                    f"{at}.commit_speed": _metric(commit * slower * (1 + ratio / 40), "MB/CPU-s", "higher"),
                    f"{at}.checkout_speed": _metric(checkout * slower, "MB/CPU-s", "higher"),
                    f"{at}.wrong_tensors": _metric(0, None, "lower"),
                }
    for store, (_, commit, checkout) in STORES.items():
        for operation, speed in (("save_weight", commit), ("load_weight", checkout)):
            name = f"performance.storage_operations.{store}.{operation}.latency_p50"
            found[name] = _metric(1000 / speed, "ms", "lower")
        for size in (100_000, 1_000_000, 10_000_000):
            at = f"scalability.model_size.{store}.{size}"
            found |= {
                f"{at}.size": _metric(size, "parameters"),
                f"{at}.commit_speed": _metric(commit, "MB/s", "higher"),
            }
        held = [2e8 + 1e5 * n for n in range(20)]
        found[f"memory.memory_leaks.{store}.growth_per_commit"] = {**_metric(1e5, "B", "lower"), "samples": held}
    return found


def _metric(value: float, unit: str | None, better: str | None = None) -> dict[str, Any]:
    return {"value": value, **({"unit": unit} if unit else {}), **({"better": better} if better else {})}
