from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.benchmarks.weight_scenarios.scenario_data import scenario_data
from assay.benchmarks.weight_scenarios.version_chain import VersionChain, best_of, differences, run_chain, time_call
from assay.benchmarks.weights.stores import store_kind
from assay.errors import DataError, UsageError
from assay.weights.peers.framed_stores import ZstdStore
from assay.weights.repository_disk import bytes_on_disk
from assay.weights.store import Tensor


@pytest.fixture(scope="module")
def chain() -> VersionChain:
    return VersionChain(scenario_data("mixed", "bfloat16", 20_000))


@pytest.mark.parametrize("store", ["assay-balanced", "safetensors", "zipnn-xor"])
def test_a_lossless_store_gets_everything_right(chain: VersionChain, store: str, tmp_path: Path) -> None:
    run = run_chain(store, chain, tmp_path / "s")
    assert run.wrong == ()
    assert run.stored_bytes == bytes_on_disk(tmp_path / "s")
    assert 0 < run.first_stored_bytes < run.stored_bytes
    assert len(run.commits) == len(chain.data.versions)
    assert run.logical_bytes == chain.data.logical_bytes


def test_a_lossy_store_is_caught_tensor_by_tensor(tmp_path: Path) -> None:
    data = scenario_data("similar", "float32", 20_000, 2)
    run = run_chain("float16-cast", VersionChain(data), tmp_path / "s")
    assert len(run.wrong) == sum(len(version.tensors) for version in data.versions)
    assert "values differ" in run.wrong[0]


def test_a_refusal_is_wrong_and_takes_no_time(
    chain: VersionChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: ZstdStore, file: Path, names: object) -> dict[str, Tensor]:
        raise DataError("no")

    monkeypatch.setattr(ZstdStore, "read", refuse)
    run = run_chain("zstd", chain, tmp_path / "s")
    assert run.wrong == tuple(f"{version.label}: refused: no" for version in chain.data.versions)
    assert run.checkouts == ()
    assert run.checkout_mb_per_cpu_s == 0
    assert run.committed_bytes == chain.data.logical_bytes


def test_the_best_of_several_rounds_takes_the_fastest_of_each_step(chain: VersionChain, tmp_path: Path) -> None:
    runs = [run_chain("safetensors", chain, tmp_path / str(i)) for i in range(3)]
    best = best_of(runs)
    for step in range(len(best.commits)):
        assert best.commits[step].cpu_s == min(run.commits[step].cpu_s for run in runs)
        assert best.checkouts[step].wall_s == min(run.checkouts[step].wall_s for run in runs)


def test_differences_name_what_is_wrong() -> None:
    expected = {"a": np.zeros(3), "b": np.zeros(3), "c": np.zeros(3), "d": np.zeros(3), "e": np.zeros(3)}
    found = {"a": np.zeros(3, np.float32), "b": np.zeros((3, 1)), "c": -np.zeros(3), "d": np.zeros(3), "x": np.zeros(1)}
    assert differences(expected, found) == [
        "x: was never stored",
        "a: dtype float32 instead of float64",
        "b: shape (3, 1) instead of (3,)",
        "c: 3 of 3 values differ",
        "e: is missing",
    ]


def test_a_store_with_a_clock_of_its_own_is_asked_for_it() -> None:
    class Elsewhere:
        spent = 0.0

        def cpu_seconds(self) -> float:
            return self.spent

        def work(self) -> str:
            self.spent += 5.0
            return "done"

    store = Elsewhere()
    answer, cost = time_call(store, store.work)  # type: ignore[arg-type]
    assert (answer, cost.cpu_s) == ("done", 5.0)


def test_short_names_are_ours_and_unknown_ones_are_refused() -> None:
    assert store_kind("fast").name == "assay-fast"
    with pytest.raises(UsageError, match="unknown store 'fastest'"):
        store_kind("fastest")
