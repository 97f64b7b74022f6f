"""Every bundled suite, as a program, on tiny models: it runs, its tables fit together and its figures are sane."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.benchmarks.weight_probes import operations as performance_operations
from assay.benchmarks.weight_scenarios.scenario_data import tensor_families
from assay.benchmarks.weights.program import main

TINY = "iterations: 1\nmodels: [tiny]\ntimeout: 2000\nbudget_s: 3\nversions: 2\ndtypes: [bfloat16]\n"


def run(suite: str, tmp_path: Path, *more: str) -> dict[str, Any]:
    profile = tmp_path / "tiny.yaml"
    profile.write_text(TINY)
    words = ["--profile", str(profile), "--benchmark-results-path", str(tmp_path / "results"), *more]
    assert main(suite, words) == 0
    written = json.loads((tmp_path / "results" / "metrics.json").read_text())
    assert written["is_success"] is True
    return {name: value["value"] if isinstance(value, dict) else value for name, value in written.items()}


@pytest.mark.slow
def test_compression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = run("compression", tmp_path, "--store", "balanced", "--store", "zipnn-xor")
    for scenario in ("similar", "checkpoints", "transfer", "mixed", "frozen", "lora_merged", "sparse", "training"):
        here = f"compression.{scenario}.assay-balanced.bfloat16"
        assert metrics[f"{here}.wrong_tensors"] == 0
        ratio = metrics[f"{here}.compression_ratio"]
        assert metrics[f"{here}.space_saved"] == pytest.approx(100 * (1 - 1 / ratio))
        assert ratio == metrics[f"{here}.logical_bytes"] / metrics[f"{here}.stored_bytes"]
        assert 0 < metrics[f"{here}.of_limit"] < 120
    # The last checkpoint is an exact duplicate: of three versions it is one.
    assert metrics["compression.checkpoints.assay-balanced.bfloat16.dedup_hit_rate"] >= 100 / 3
    printed = capsys.readouterr().out
    tenfold = any(value > 10 for name, value in metrics.items() if name.endswith(".compression_ratio"))
    assert (">10x compression: Excellent deduplication opportunity" in printed) == tenfold
    assert "Of Limit: how much" in printed
    assert "Store Comparison:" in printed


@pytest.mark.slow
def test_performance(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORAL_BENCHMARK_IO_INTENSIVE", "true")
    monkeypatch.setattr(performance_operations, "IO_PARAMETERS", 100_000)
    monkeypatch.setattr(performance_operations, "BATCH", 4)
    metrics = run("performance", tmp_path)
    operations = {name.split(".")[3] for name in metrics if name.endswith(".latency_p99")}
    assert {"save_weight", "load_weight", "commit_model", "delta_encode", "reconstruct", "lookup"} <= operations
    assert {"batch_save", "batch_load", "durable_write", "cold_read"} <= operations
    for operation in ("save_weight", "load_weight"):
        here = f"performance.storage_operations.assay-balanced.{operation}"
        assert metrics[f"{here}.latency_p50"] <= metrics[f"{here}.latency_p95"] <= metrics[f"{here}.latency_p99"]
        assert metrics[f"{here}.operations"] == pytest.approx(1e3 / metrics[f"{here}.latency_p50"])
        assert metrics[f"{here}.of_safetensors"] > 0
        assert metrics[f"{here}.memory_efficiency"] > 0
    assert "<50ms operations: Suitable for interactive use" in capsys.readouterr().out


@pytest.mark.slow
def test_scalability(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_BENCHMARK_WORKERS", "2")
    metrics = run("scalability", tmp_path)
    for scenario in ("model_size", "repository_size"):
        for what in ("commit", "checkout"):
            fit, low, high = (
                metrics[f"scalability.{scenario}.assay-balanced.{what}_exponent{part}"]
                for part in ("", "_low", "_high")
            )
            assert low <= fit <= high
    assert metrics["scalability.concurrent_access.assay-balanced.2 users.wrong_reads"] == 0
    assert metrics["scalability.concurrent_access.assay-balanced.2 users.failed_reads"] == 0
    assert metrics["scalability.hardware_utilization.assay-balanced.commit.bottleneck"] in ("CPU", "I/O", "CPU and I/O")
    assert "Scaling Coefficients:" in capsys.readouterr().out


@pytest.mark.slow
def test_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = run("memory", tmp_path)
    here = "memory.{}.assay-balanced.{}".format
    assert metrics[here("peak_usage", "tiny.checkout_peak")] > 0
    assert metrics[here("memory_leaks", "checkout_leaks")] is False
    assert metrics[here("memory_leaks", "growth_per_commit_low")] <= metrics[here("memory_leaks", "growth_per_commit")]
    assert 0 <= metrics[here("garbage_collection", "gc_pressure")] < 100
    assert metrics[here("lazy_loading", "one_tensor_over_its_size")] > 0
    assert "Memory Usage:" in capsys.readouterr().out


@pytest.mark.slow
def test_clustering(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = run("clustering", tmp_path)
    for strategy in ("hierarchical", "adaptive"):
        assert metrics[f"clustering.strategy_comparison.{strategy}.clusters"] == 12
        assert metrics[f"clustering.strategy_comparison.{strategy}.adjusted_rand"] == 1
        assert metrics[f"clustering.optimization.{strategy}.new.adjusted_rand"] == 1
    for strategy in ("kmeans", "hierarchical", "adaptive"):
        here = f"clustering.strategy_comparison.{strategy}"
        assert -1 <= metrics[f"{here}.silhouette"] <= 1
        assert metrics[f"{here}.davies_bouldin"] >= 0
        assert metrics[f"{here}.assay-balanced.compression_improvement"] > 1.2
        assert (
            metrics[f"clustering.scalability.{strategy}.time_exponent_low"]
            <= (metrics[f"clustering.scalability.{strategy}.time_exponent"])
        )
    printed = capsys.readouterr().out
    assert "Adaptive strategy: Usually best balance" in printed
    assert "models of known families added" in printed


def test_families_are_hidden_in_the_names_and_known_in_the_truth() -> None:
    made = tensor_families(5, 3, 300)
    assert len(made.tensors) == len(made.truth) == 15
    sketches = made.sketches()
    for i, family in enumerate(made.truth):
        likeness = sketches @ sketches[i]
        assert {made.truth[j] for j in np.argsort(-likeness)[:3]} == {family}
    assert made.truth[:5] != made.truth[5:10]
