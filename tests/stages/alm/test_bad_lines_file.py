from __future__ import annotations

import json
from pathlib import Path

from assay.benchmarks.alm_pipeline_benchmark import main

FIXTURE = Path(__file__).parents[2] / "fixtures/audio/alm/sample_input.jsonl"


def test_bad_lines_are_listed_in_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(FIXTURE.read_text().splitlines()[0] + "\nnot json\n")
    out = tmp_path / "new" / "folder"
    words = ["--benchmark-results-path", str(out), "--input-manifest", str(manifest), "--on-bad-line", "skip"]
    assert main(words) == 0
    assert "m.jsonl:2" in (out / "bad_lines.txt").read_text()
    assert json.loads((out / "metrics.json").read_text())["num_output_entries"] == 1
