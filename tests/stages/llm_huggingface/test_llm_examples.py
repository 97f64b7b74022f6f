"""The example files, run from the command line as they stand, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.loadgen.colocation.read_config import read_config

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "pipeline_configs"


def colocate(path: Path, results: Path, *more: str) -> tuple[str, dict[str, Any]]:
    command = [sys.executable, "-m", "assay", "colocate", str(path), "--results", str(results), "--quiet", *more]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=offline, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(each.read_text()) for each in sorted(results.rglob("result.json"))]
    return done.stdout, {each["pipeline"]: each for each in found}


def report(result: dict[str, Any], stage: int) -> dict[str, Any]:
    """Its figures by name."""
    metrics = next(each for each in result["stages"] if each["id"] == stage)["report"]["metrics"]
    return {name: each["value"] if isinstance(each, dict) else each for name, each in metrics.items()}


@pytest.mark.slow
def test_a_model_is_finetuned(tmp_path: Path):
    said, results = colocate(EXAMPLES / "finetune_huggingface.yml", tmp_path / "out")
    result = results["Instruction finetuning"]
    assert result["completed"] == 60
    found = report(result, 1)
    assert found["optimizer_steps"] == 30
    assert found["loss"] < found["loss_first"]
    assert "asked for cuda, which torch cannot use here: it ran on the CPU" in said


@pytest.mark.slow
def test_answers_follow_a_schema(tmp_path: Path):
    _, results = colocate(EXAMPLES / "generation_huggingface.yml", tmp_path / "out")
    assert results["Grading"]["completed"] == 40
    assert report(results["Grading"], 1)["schema_followed"] == 1.0
    assert results["Grading"]["first_result"]["count"] == 40


@pytest.mark.slow
def test_finetuning_runs_beside_inference(tmp_path: Path):
    _, results = colocate(EXAMPLES / "finetune_beside_inference.yml", tmp_path / "out")
    assert report(results["finetune"], 1)["optimizer_steps"] == 150
    assert report(results["inference"], 1)["answer_tokens"] == 60 * 2 * 16


def test_a_wrong_value_is_named_with_file_line_and_field(tmp_path: Path):
    text = (EXAMPLES / "finetune_huggingface.yml").read_text()
    path = tmp_path / "wrong.yml"
    path.write_text(text.replace("lora_rank: 8", "lora_rang: 8"))
    command = [sys.executable, "-m", "assay", "colocate", str(path), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 2
    line = 1 + text.splitlines().index("          dtype: torch.float32")
    assert f"wrong.yml:{line}:11: pipelines[0].stages[1].config: " in done.stderr
    assert "Finetune: model: unknown key 'lora_rang'; did you mean 'lora_rank'?" in done.stderr


def test_reading_a_file_imports_none_of_the_heavy_libraries():
    code = (
        "import sys; from pathlib import Path; from assay.loadgen.colocation.read_config import read_config;"
        f"[read_config(path) for path in sorted(Path({str(EXAMPLES)!r}).glob('*huggingface.yml'))];"
        "print(*{'torch', 'transformers', 'peft', 'datasets', 'accelerate', 'llguidance'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", ["finetune_huggingface", "generation_huggingface", "finetune_beside_inference"])
def test_examples_have_nothing_wrong_with_them(name: str):
    assert read_config(EXAMPLES / f"{name}.yml").pipelines
