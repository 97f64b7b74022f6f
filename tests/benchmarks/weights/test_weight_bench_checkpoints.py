"""`--checkpoints`: a user's own files as a chain of versions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from assay.benchmarks.weight_scenarios.own_checkpoints import OwnCheckpoints
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioConfig
from assay.cli.main import main
from assay.errors import DataError
from assay.weights.entropy_limit import repository_limit


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    model = {f"layer.{n}": rng.standard_normal((64, 64), np.float32) for n in range(4)}
    names = []
    for step in range(3):
        names.append(str(tmp_path / f"step{step}.safetensors"))
        save_file(model, names[-1])
        model = {**model, "layer.0": model["layer.0"] + np.float32(1e-3)}
    return names


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe of each store takes longer than these files."""
    from assay.benchmarks.weight_probes.machine import Machine
    from assay.benchmarks.weights import orchestrator

    monkeypatch.setattr(orchestrator, "probe_machine", lambda store, scratch: Machine())


def test_stores_are_compared_on_the_files_against_their_own_limit(
    files: list[str], tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["--profile", "quick", "--output", str(out), "--stores", "balanced", "zstd", "--no-visualize"]
    assert main(["weights", "bench", "--checkpoints", *files, *words]) == 0
    printed = capsys.readouterr().out
    assert "Own Checkpoints (3 versions, 0.20 MB, float32)" in printed
    assert "(limit)" in printed
    metrics = json.loads((out / "metrics.json").read_text())
    logical = metrics["compression.own_checkpoints.zstd.float32.logical_bytes"]
    assert logical == 3 * 4 * 64 * 64 * 4
    # Three of four tensors never change: ours keeps them once, a whole file a version does not.
    ours = metrics["compression.own_checkpoints.assay-balanced.float32.stored_bytes"]
    assert ours < metrics["compression.own_checkpoints.zstd.float32.stored_bytes"] / 2
    assert metrics["compression.own_checkpoints.assay-balanced.float32.wrong_tensors"] == 0
    assert metrics["compression.own_checkpoints.assay-balanced.float32.commit_speed"] > 0
    params = json.loads((out / "params.json").read_text())
    assert params["profile"]["checkpoints"] == files


def test_the_limit_is_that_of_the_files(files: list[str]) -> None:
    suite = OwnCheckpoints(files)
    versions = suite.chain.data.models
    assert suite.chain.limit == repository_limit(versions, [None, 0, 1])
    assert suite.chain.limit.duplicates == 2 * 3


def test_mixed_dtypes_one_file_and_a_store_that_loses_bits(tmp_path: Path) -> None:
    file = tmp_path / "one.safetensors"
    save_file({"a": np.linspace(0, 1, 999, dtype=np.float32), "b": np.arange(9)}, file)
    suite = OwnCheckpoints([str(file)])
    readings = suite.run_scenario("own_checkpoints", ScenarioConfig(iterations=1, stores=("float16-cast",)))
    assert readings["float16-cast.mixed.wrong_tensors"].value == 1


def test_what_does_not_fit_in_memory_is_said_before_anything_is_measured(files: list[str]) -> None:
    from dataclasses import replace

    from assay.benchmarks.weight_probes.machine import Machine

    config = replace(ScenarioConfig(stores=("zstd",)), machine=Machine(available_mb=0.05))
    with pytest.raises(DataError, match="the largest file needs 0 MB of memory"):
        OwnCheckpoints(files).run_scenario("own_checkpoints", config)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("short.safetensors", b"\x01\x02", "is not a safetensors file"),
        ("words.txt", b"hello", "is not a model that can be read"),
        ("old.pt", b"not a zip", "is not a PyTorch file of the zip format"),
        ("empty.safetensors", b"\x02\0\0\0\0\0\0\0{}", "has no tensors"),
    ],
)
def test_a_bad_file_is_one_message_and_nothing_is_made(
    name: str,
    content: bytes,
    said: str,
    files: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    assert main(["weights", "bench", "--checkpoints", files[0], name]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"assay: {name} ")
    assert said in error
    assert not list(tmp_path.glob("benchmark_results_*"))
