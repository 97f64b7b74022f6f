from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_the_example_file_runs_a_server_beside_a_neighbour(tmp_path: Path) -> None:
    path = ROOT / "examples" / "pipeline_configs" / "generation_server.yml"
    command = [sys.executable, "-m", "assay", "colocate", str(path), "--results", str(tmp_path / "out"), "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(each.read_text()) for each in sorted((tmp_path / "out").rglob("result.json"))]
    results = {each["pipeline"]: each for each in found}
    assert results["Serving"]["completed"] == 20
    assert results["Serving"]["first_result"]["count"] == 20
    assert results["Neighbour"]["completed"] == 20
