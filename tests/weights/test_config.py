"""Each key of the configuration does what it says."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from tests.weights.conftest import same

from assay.errors import ConfigError
from assay.weights.codec.codec_methods import Method
from assay.weights.repository import Repository
from assay.weights.repository_config import PRESETS, RepositoryConfig, repository_config
from assay.weights.versions.ingest import LazyTensors


def pair(rng, likeness=1e-3, size=20_000):
    base = rng.standard_normal(size).astype(np.float32)
    return base, base + np.float32(likeness) * rng.standard_normal(size).astype(np.float32)


def test_every_problem_at_once():
    with pytest.raises(ConfigError) as caught:
        repository_config({"similarity_threshold": 2, "batch_size": 0, "delta_encoding": "ZIP", "enable_gc": 1})
    assert len(caught.value.problems) == 4
    with pytest.raises(ConfigError, match="did you mean 'batch_size'"):
        repository_config({"batchsize": 3})
    with pytest.raises(ConfigError, match="unknown preset or setting"):
        repository_config("tiny")


@pytest.mark.parametrize("preset", [*PRESETS, "small", "balanced", "fast"])
def test_presets_store_exactly(tmp_path, rng, preset):
    base, child = pair(rng)
    repo = Repository.init(tmp_path / "r", preset)
    ids = [repo.commit({"w": base}), repo.commit({"w": child})]
    again = Repository.open(tmp_path / "r")
    assert again.config == repo.config == repository_config(preset)
    assert same(dict(again.checkout(ids[0]).items()), {"w": base})
    assert same(dict(again.checkout(ids[1]).items()), {"w": child})


def test_similarity_threshold_decides_which_strangers_are_bases(tmp_path, rng):
    base, child = pair(rng, likeness=0.3)
    deltas = {}
    for threshold in (0.8, 0.999):
        repo = Repository.init(tmp_path / str(threshold), {"similarity_threshold": threshold})
        repo.commit({"one": base})
        repo.commit({"another": child})
        deltas[threshold] = repo.stats().deltas
    assert deltas == {0.8: 1, 0.999: 0}


def test_delta_encoding(tmp_path, rng):
    base, child = pair(rng)
    stored = {}
    for encoding in ("AUTO", "COMPRESSED", "XOR", "SPARSE", "NONE", "FLOAT32_RAW"):
        repo = Repository.init(tmp_path / encoding, {"delta_encoding": encoding})
        repo.commit({"w": base})
        repo.commit({"w": child})
        stored[encoding] = repo.stats().stored_bytes
        assert repo.stats().deltas == (encoding not in ("NONE", "FLOAT32_RAW"))
    assert stored["AUTO"] <= stored["COMPRESSED"] < stored["XOR"] < stored["NONE"] < stored["FLOAT32_RAW"]


def test_batch_size_is_tensors_a_pack(tmp_path):
    for size, packs in ((3, 4), (100, 1)):
        repo = Repository.init(tmp_path / str(size), {"batch_size": size})
        repo.commit({f"w{i}": np.full(10, i, np.float32) for i in range(10)})
        assert len(list((repo.path / "packs").iterdir())) == packs
        assert len(repo.checkout("main")) == 10


def test_lazy_loading_reads_on_first_look(tmp_path, rng):
    repo = Repository.init(tmp_path / "r", {"lazy_loading": True})
    model = {f"w{i}": rng.standard_normal(100).astype(np.float32) for i in range(3)}
    repo.commit(model)
    out = repo.checkout("main")
    assert isinstance(out, LazyTensors)
    assert out.loaded == set()
    assert out["w1"].tobytes() == model["w1"].tobytes()
    assert out.loaded == {"w1"}
    assert same(dict(out.items()), model)
    assert out.loaded == set(model)
    assert "w9" not in out
    assert out.get("w9") is None


def test_memory_limit_bounds_what_is_kept(tmp_path, rng):
    for limit, most in ((16, 8 << 20), (512, 256 << 20)):
        repo = Repository.init(tmp_path / str(limit), {"memory_limit_mb": limit})
        base = rng.standard_normal(3_000_000).astype(np.float32)
        repo.commit({"w": base})
        repo.commit({"w": base + np.float32(1e-3)})
        assert 0 < repo.objects.cache.held_bytes <= most
        if limit == 512:
            assert repo.objects.cache.held_bytes > 8 << 20


def test_cleanup_and_enable_gc(tmp_path, rng):
    for config, left in (
        ({"cleanup_frequency": "aggressive"}, 1),
        ({"cleanup_frequency": "never"}, 2),
        ({"cleanup_frequency": "aggressive", "enable_gc": False}, 2),
    ):
        repo = Repository.init(tmp_path / f"{len(list(tmp_path.iterdir()))}", config)
        repo.commit({"w": np.zeros(10, np.float32)})
        repo.commit({"w": rng.standard_normal(1000)}, branch="dead")
        repo.delete_branch("dead")
        repo.commit({"w": np.zeros(10, np.float32)}, "same again")
        assert len(list(repo.objects.records())) == left


def test_streaming_or_several_at_once_store_the_same(tmp_path, rng):
    model = {f"w{i}": rng.standard_normal(50_000).astype(np.float32) for i in range(6)}
    packs = []
    for streaming in (True, False):
        repo = Repository.init(tmp_path / str(streaming), {"streaming_operations": streaming})
        assert repo.workers == (1 if streaming else repo.cores)
        commit_id = repo.commit(model)
        assert same(repo.checkout(commit_id), model)
        packs.append([p.name for p in (repo.path / "packs").iterdir()])
    assert packs[0] == packs[1]


def test_clustering_strategy_is_used_by_repacking(tmp_path, rng):
    base, child = pair(rng)
    found = {}
    for strategy in ("none", "hierarchical"):
        repo = Repository.init(tmp_path / strategy, {"clustering_strategy": strategy, "delta_encoding": "NONE"})
        for number in range(4):
            repo.commit({f"n{number}": child + np.float32(1e-4 * number)}, branch=f"b{number}")
        threshold = 1.0 if strategy == "none" else 0.9
        again = Repository.open(repo.path, {"delta_encoding": "AUTO", "similarity_threshold": threshold})
        again.gc(recluster=True)
        found[strategy] = again.stats().deltas
    assert found["hierarchical"] == 3
    assert base.size == child.size


def test_a_config_given_when_opening_is_for_this_time_only(tmp_path):
    Repository.init(tmp_path / "r")
    assert Repository.open(tmp_path / "r", {"setting": "fast"}).config.setting == "fast"
    assert Repository.open(tmp_path / "r").config == RepositoryConfig()


def test_without_memory_mapping_nothing_is_mapped_and_everything_comes_back(tmp_path, rng):
    weights = rng.standard_normal(5000).astype(np.float32)
    Repository.init(tmp_path / "r").commit({"w": weights})
    mapped = {}
    for mapping in (True, False):
        repo = Repository.open(tmp_path / "r", {"memory_mapping": mapping})
        assert repo.checkout("main")["w"].tobytes() == weights.tobytes()
        mapped[mapping] = str(tmp_path / "r") in Path("/proc/self/maps").read_text()
        del repo
        gc.collect()
    assert mapped == {True: True, False: False}


@pytest.mark.parametrize(("setting", "chain"), [("small", 3), ("balanced", 2), ("fast", 1)])
def test_a_setting_bounds_what_reading_a_version_takes(tmp_path, rng, setting, chain):
    repo = Repository.init(tmp_path / "r", setting)
    weights, bias = rng.standard_normal(50_000).astype(np.float32), rng.standard_normal(100).astype(np.float32)
    models = []
    for step in range(4):
        weights, bias = weights + np.float32(1e-2 / 4**step), bias + np.float32(1e-2 / 4**step)
        models.append({"weights": weights, "bias": bias})
    ids = [repo.commit(model) for model in models]
    assert repo.stats().longest_chain == chain
    deltas = repo.stats().deltas
    assert deltas == (6 if setting == "small" else 3), "tiny tensors are differences only where size is all"
    for commit_id, model in zip(ids, models, strict=True):
        assert same(repo.checkout(commit_id), model)


def test_few_changes_are_stored_by_their_places(tmp_path, rng):
    repo = Repository.init(tmp_path / "r")
    weights = rng.standard_normal(3 << 20).astype(np.float32)
    child = weights.copy()
    child[::500] += 1
    child[2 << 20 :] *= np.float32(1.001)
    ids = [repo.commit({"w": tensor}) for tensor in (weights, child)]
    (record,) = (record for record in repo.objects.records() if record.base is not None)
    assert [chunk.method for chunk in record.chunks] == [Method.SPARSE, Method.SPARSE, Method.DIFFERENCE]
    assert same(Repository.open(tmp_path / "r").checkout(ids[1]), {"w": child})
