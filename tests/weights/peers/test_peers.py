from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from assay.errors import DataError, UsageError
from assay.weights.peers.peer import PEERS, peer
from assay.weights.store import Tensor, WeightStore

LOSSLESS = ["safetensors", "h5py-gzip", "h5py-lzf", "zstd", "blosc2", "zipnn", "zipnn-xor"]


def model(seed: int) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    return {
        "float32": rng.standard_normal((30, 20), dtype=np.float32),
        "float16": rng.standard_normal(50).astype(np.float16),
        "bfloat16": rng.standard_normal(50).astype(ml_dtypes.bfloat16),
        "float8": rng.standard_normal(50).astype(ml_dtypes.float8_e4m3fn),
        "float64": np.array([np.nan, -0.0, np.inf, 5e-324]),
        "complex": np.array([1j, -0.0], np.complex128),
        "int8": np.arange(-5, 5, dtype=np.int8),
        "bool": np.array([True, False]),
        "scalar": np.array(seed, np.float32),
        "empty": np.empty((0, 3), np.float32),
        "transposed": rng.standard_normal((4, 6)).T,
    }


def same(left: Tensor, right: Tensor) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


def opened(name: str, path: Path) -> WeightStore:
    if not PEERS[name].installed:
        pytest.fail(f"{PEERS[name].library} belongs to the environment of the tests")
    return PEERS[name].open(path)


@pytest.mark.parametrize("name", LOSSLESS)
def test_every_version_comes_back_to_the_bit(name: str, tmp_path: Path) -> None:
    store = opened(name, tmp_path)
    assert isinstance(store, WeightStore)
    versions = [model(0), model(1), model(0)]
    refs = [store.commit(version) for version in versions]
    for ref, version in zip(refs, versions, strict=True):
        found = store.load(ref)
        assert found.keys() == version.keys()
        assert all(same(found[key], tensor) for key, tensor in version.items())


@pytest.mark.parametrize("name", LOSSLESS)
def test_a_reopened_store_has_its_versions_and_takes_more(name: str, tmp_path: Path) -> None:
    first = opened(name, tmp_path).commit(model(0))
    again = opened(name, tmp_path)
    second = again.commit(model(1))
    assert second != first
    assert same(again.load(first)["float32"], model(0)["float32"])
    assert same(again.load(second)["float32"], model(1)["float32"])


@pytest.mark.parametrize("name", LOSSLESS)
def test_save_stages_for_the_next_commit_and_one_tensor_can_be_read(name: str, tmp_path: Path) -> None:
    store = opened(name, tmp_path)
    store.save("a", np.arange(5))
    ref = store.commit({"b": np.arange(3)})
    assert store.load(ref).keys() == {"a", "b"}
    assert store.load(ref, ["b"]).keys() == {"b"}
    assert store.load(store.commit({"c": np.arange(2)})).keys() == {"c"}


@pytest.mark.parametrize("name", LOSSLESS)
def test_stats_count_files_on_disk(name: str, tmp_path: Path) -> None:
    store = opened(name, tmp_path)
    store.commit(model(0))
    stats = store.stats()
    assert stats.stored_bytes == sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    assert stats.logical_bytes == sum(tensor.nbytes for tensor in model(0).values())
    assert stats.versions == 1


def test_zipnn_leaves_its_input_alone(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).standard_normal(10_000, dtype=np.float32)
    before = weights.copy()
    opened("zipnn", tmp_path).commit({"w": weights})
    assert same(weights, before)


def test_xor_makes_a_child_smaller_and_follows_the_base_it_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    base = rng.standard_normal(50_000, dtype=np.float32)
    unrelated = rng.standard_normal(50_000, dtype=np.float32)
    child = base + np.float32(1e-4)
    store = opened("zipnn-xor", tmp_path)
    first = store.commit({"w": base})
    store.commit({"w": unrelated})
    store.base_on(first)  # type: ignore[attr-defined]
    third = store.commit({"w": child})
    sizes = [file.stat().st_size for file in sorted(tmp_path.glob("v*.bin"))]
    assert sizes[2] < 0.8 * sizes[0]
    assert same(store.load(third)["w"], child)


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    store = opened("zstd", tmp_path)
    ref = store.commit({"w": np.arange(5)})
    file = next(tmp_path.glob("v*.bin"))
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(DataError, match=r"v00001\.bin.*damaged"):
        store.load(ref)


def test_a_version_cannot_name_a_path(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not the name of a version"):
        opened("zstd", tmp_path).load("../../etc/passwd")


def test_the_lossy_store_loses_bits(tmp_path: Path) -> None:
    store = opened("float16-cast", tmp_path)
    ref = store.commit({"w": np.array([1.0, 1 / 3], np.float32)})
    assert store.load(ref)["w"].dtype == np.float32
    assert store.load(ref)["w"][1] != np.float32(1 / 3)
    assert peer("float16-cast").lossy


def test_an_unknown_store_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'safetensors'"):
        peer("safetensor")


def test_coral_without_its_environment_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_PEERS_DIR", str(tmp_path))
    assert not peer("coral-ml").installed
    with pytest.raises(UsageError, match="make peers-weights"):
        peer("coral-ml").open(tmp_path)


OWN = """\
import numpy as np

from assay.weights import SnapshotStore


class NpzStore(SnapshotStore):
    suffix = ".npz"

    def write(self, file, tensors):
        with file.open("wb") as out:
            np.savez(out, **tensors)

    def read(self, file, names):
        with np.load(file) as found:
            return {name: found[name] for name in names or found.files}


class NoStore:
    def __init__(self, path):
        pass
"""


def test_a_store_of_ones_own_is_found_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.benchmarks.weights.stores import store_kind

    (tmp_path / "own_npz_store.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    store = store_kind("own_npz_store:NpzStore").open(tmp_path / "kept")
    version = store.commit({"w": np.arange(4, dtype=np.float32)}, "first")
    assert np.array_equal(store.load(version)["w"], np.arange(4, dtype=np.float32))
    for name, said in {
        "own_npz_store:NoStore": "own_npz_store:NoStore is no store: it has no save, load, commit, stats",
        "own_npz_store:Nothing": "own_npz_store:Nothing: nothing is at that path",
        "no_such_module:Store": "no_such_module:Store",
    }.items():
        with pytest.raises(UsageError, match=said):
            store_kind(name).open(tmp_path / "other")
