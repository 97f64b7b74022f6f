"""A session with something of everything, for golden files and screenshots."""

from __future__ import annotations

import random

from session_factory import MadeRun

from assay.record import Outcome, RequirementResult, TaskPerf

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


def _alm(rng: random.Random, scale: float) -> list[MadeRun]:
    runs = []
    for repeat in range(1, 6):
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
                repeats=5,
                warnings=("steal time was 4% of the machine's",) if repeat == 3 else (),
            )
        )
    return runs
