"""CPU of curating a recording: reading its line, windows, overlap, counting."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import assay
from assay.benchmarks.alm_pipeline_benchmark import main as curate
from assay.benchmarks.data.alm import SHAPES, write_manifest
from bench.nightly.calibrated import Calibrated

with assay.benchmark() as b, tempfile.TemporaryDirectory() as folder:
    recordings = b.param("recordings", 100_000)
    manifest = Path(folder) / "manifest.jsonl"
    results = Path(folder) / "results"
    write_manifest(manifest, 500, SHAPES["short"], seed=1)
    words = ["--input-manifest", str(manifest), "--benchmark-results-path", str(results)]
    curate(words)
    measured = Calibrated(b, "alm", b.param("rounds", 5))
    repeated = [*words, "--repeat-factor", str(recordings // 500)]
    measured.measure("cpu_us_per_recording", lambda: curate(repeated), recordings)
    curate(words)
    found = json.loads((results / "metrics.json").read_text())
    b.counts(**{name: found[name] for name in ("total_builder_windows", "total_filtered_windows")})
