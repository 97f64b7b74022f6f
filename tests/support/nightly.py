"""A session with something of everything, for golden files and screenshots."""

from __future__ import annotations

import random

from session_factory import MadeRun

from assay.record import Outcome, RequirementResult, TaskPerf

REPEATS = 8
HOSTILE = "<script>alert('x')</script>"


def nightly_runs(scale: float = 1.0, seed: int = 7) -> list[MadeRun]:
    rng = random.Random(seed)
    return [
        *_alm(rng, scale),
        MadeRun(
            "minhash",
            {
                "rows_per_s": {"value": 48210.0, "unit": "1/s", "better": "higher"},
                "duplicates": 1290,
                "is_success": True,
            },
            exec_time_s=63.2,
            requirements=(
                RequirementResult("rows_per_s", "≥ 60,000", 48210.0, False, "rows_per_s is 48210.0, not ≥ 60000"),
                RequirementResult("duplicates", "= 1290", 1290, True),
            ),
            outcome=Outcome.MISSED,
            reasons=("rows_per_s is 48210.0, not ≥ 60000",),
        ),
        MadeRun(
            "train",
            outcome=Outcome.FAILED,
            exec_time_s=3.25,
            reasons=("exited with code 1",),
            log="epoch 1\n\x1b[31mTraceback (most recent call last):\x1b[0m\n  line 3\nValueError: no \x07bell\n",
        ),
        MadeRun("slow", outcome=Outcome.TIMEOUT, exec_time_s=60.0, reasons=("did not end within 60 s",), log=""),
        MadeRun(
            HOSTILE,
            {"<img src=x onerror=alert(1)>": {"value": 1.0, "unit": "<b>", "better": "lower"}, "name": "</script>"},
            exec_time_s=0.84,
            folder="hostile",
            log="</pre><script>alert('log')</script>\n",
        ),
        MadeRun("gone", outcome=Outcome.SKIPPED, exec_time_s=0.0, reasons=("train did not pass",), usage_series=False),
    ]


def rich_runs(seed: int = 7) -> list[MadeRun]:
    """What load generators, colocation and weight suites write, beside the nightly's entries."""
    rng = random.Random(seed)
    latencies = [rng.lognormvariate(-5.3, 0.5) + (0.25 if rng.random() < 0.004 else 0) for _ in range(4000)]
    curve = [
        {"rate": rate, "achieved_rate": min(rate, 5210.0), "p50_ms": 1.9 + rate / 9000,
         "p95_ms": 4 + (rate / 2400) ** 3, "p99_ms": 6.5 + (rate / 2100) ** 4, "valid": rate < 5000}
        for rate in (500, 1000, 2000, 3000, 4000, 5000, 6000)
    ]  # fmt: skip
    names = ("alm", "chat", "antagonist")
    slowdown = {
        a: {b: {"value": v, "low": v - 0.03, "high": v + 0.04} for b, v in zip(names, row, strict=True)}
        for a, row in zip(names, ((1.0, 1.21, 1.94), (1.09, 1.0, 1.47), (1.62, 1.33, 1.0)), strict=True)
    }
    compression = {
        f"compression.{scenario}.{name}": {"value": value, "unit": unit, "better": better}
        for scenario, ratio in (("similar_models", 11.9), ("checkpoints", 4.3), ("transfer", 2.1), ("mixed", 3.4))
        for name, value, unit, better in (
            ("ratio", ratio, "×", "higher"),
            ("space_saved", 100 - 100 / ratio, "%", "higher"),
            ("of_limit", 99.1 - ratio / 20, "%", "higher"),
            ("commit_mb_per_cpu_s", 210.0 + ratio, "MB/s", "higher"),
        )
    }
    return [
        MadeRun(
            "serving",
            {
                "latency_s": {"value": 0.0051, "unit": "s", "better": "lower", "samples": latencies},
                "throughput": {"value": 4980.2, "unit": "1/s", "better": "higher"},
                "sweep": curve,
            },
            exec_time_s=44.1,
        ),
        MadeRun("colocation", {"slowdown_throughput": slowdown, "duration_s": 30.0}, exec_time_s=95.0),
        MadeRun("weights", compression, exec_time_s=51.7),
    ]


def _alm(rng: random.Random, scale: float) -> list[MadeRun]:
    runs = []
    for repeat in range(1, REPEATS + 1):
        seconds = 12.4 * scale * (1 + rng.gauss(0, 0.01))
        tasks = tuple(
            TaskPerf(
                stage,
                {"process_time": seconds * share / 20 * (1 + rng.gauss(0, 0.05)), "items_processed": 50.0},
                f"{stage}-{repeat}-{i}",
            )
            for stage, share in (("reader", 0.1), ("window_builder", 0.55), ("overlap_filter", 0.2), ("writer", 0.05))
            for i in range(20)
        )
        runs.append(
            MadeRun(
                "alm",
                {
                    "rows_per_s": {"value": round(12400 / seconds, 3), "unit": "1/s", "better": "higher"},
                    "num_input_entries": 1000,
                    "total_builder_windows": 181,
                    "is_success": True,
                },
                exec_time_s=seconds,
                params={"input_manifest": "sample.jsonl", "executor": "xenna"},
                tasks=tasks,
                repeat=repeat,
                repeats=REPEATS,
                warnings=("steal time was 4% of the machine's",) if repeat == 3 else (),
            )
        )
    return runs
