"""One seeded file of 10,000 odd ALM recordings through every executor, on the cluster that is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.benchmarks import alm_pipeline_benchmark
from assay.benchmarks.data.alm import SHAPES, write_manifest

RECORDINGS = 10_000
COUNTED = ("num_input_entries", "num_output_entries", "total_builder_windows", "total_filtered_windows")


def alm(scratch: Path, executors: Sequence[str]) -> dict[str, Any]:
    """What each made of the manifest, which the first to come writes."""
    manifest = scratch / "odd.jsonl"
    if not manifest.exists():
        write_manifest(manifest, RECORDINGS, SHAPES["odd"], 77)
    answer: dict[str, Any] = {}
    for name in executors:
        output, results = scratch / f"{name}.jsonl", scratch / f"{name}-results"
        words = ["--input-manifest", str(manifest), "--output-manifest", str(output), "--executor", name]
        code = alm_pipeline_benchmark.main([*words, "--workers", "2", "--benchmark-results-path", str(results)])
        metrics = json.loads((results / "metrics.json").read_text())
        answer[name] = {
            "exit code": code,
            "bytes": output.stat().st_size,
            "sha256": hashlib.sha256(output.read_bytes()).hexdigest(),
            "filtered": metrics["total_filtered_dur_s"],
            **{metric: metrics[metric] for metric in COUNTED},
        }
    return answer
