"""The two files of examples/pipeline_configs, from the command line as they stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "examples" / "pipeline_configs"


def run(name: str, out: Path) -> dict[str, Any]:
    assert main(["colocate", str(EXAMPLES / name), "--results", str(out), "--events", "none", "--quiet"]) == 0
    [pipeline] = json.loads((out / "colocation.json").read_text())["runs"][0]["pipelines"]
    # Nothing of what libraries say about accelerators that are not here is in a user's sight.
    assert [path.read_text() for path in sorted((out / "together").glob("*/std*.log"))] == ["", "", ""]
    found: dict[str, Any] = pipeline
    return found


@pytest.mark.slow
def test_finetuning_runs_as_it_stands_and_its_loss_falls(tmp_path: Path) -> None:
    found = run("finetune_torchtune.yml", tmp_path)
    assert (found["completed"], found["failed"]) == (60, 0)
    figures = found["stages"][1]["report"]["metrics"]
    assert figures["optimizer_steps"]["value"] == 30
    assert figures["loss"]["value"] < figures["loss_first"]["value"]


@pytest.mark.slow
def test_generation_runs_as_it_stands_and_every_answer_has_its_length(tmp_path: Path) -> None:
    found = run("generation_torchtune.yml", tmp_path)
    assert (found["completed"], found["failed"]) == (40, 0)
    assert found["stages"][1]["report"]["metrics"]["answer_tokens"]["value"] == 40 * 16
    assert found["first_result"]["count"] == found["per_item"]["count"] == 40
