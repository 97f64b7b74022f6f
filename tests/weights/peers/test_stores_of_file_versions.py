"""Stores that keep versions of a file: each where it is installed; that one is not is one message."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from assay.errors import AssayError, DataError, UsageError
from assay.weights.peers.git_stores import GitStore
from assay.weights.peers.peer import PEERS
from assay.weights.store import Tensor, WeightStore

NAMES = ("xet", "git-lfs", "dvc", "git-theta")


def version(seed: int, changed: int | None = None) -> dict[str, Tensor]:
    model = {f"layer.{n}": np.random.default_rng([seed, n]).standard_normal((128, 128), np.float32) for n in range(6)}
    model["bits"] = np.arange(600, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(2, 300)
    if changed is not None:
        model[f"layer.{changed}"] = model[f"layer.{changed}"] + np.float32(1)
    return model


@pytest.mark.parametrize("name", NAMES)
def test_versions_come_back_bit_for_bit_and_a_duplicate_costs_next_to_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_PEERS_DIR", str(Path(__file__).parents[3] / ".peers"))
    assert PEERS[name].installed, f"make setup installs it; by hand: {PEERS[name].install}"
    store = PEERS[name].open(tmp_path / "store")
    versions = [version(1), version(1, changed=2), version(1)]
    refs = [store.commit(tensors, "made") for tensors in versions]
    before = _bytes(tmp_path / "store")
    refs.append(store.commit(versions[1]))
    assert _bytes(tmp_path / "store") - before < 60_000
    opened: WeightStore = PEERS[name].open(tmp_path / "store")
    for ref, tensors in zip(refs, [*versions, versions[1]], strict=True):
        found = opened.load(ref)
        assert found.keys() == tensors.keys()
        for key, tensor in tensors.items():
            assert (found[key].dtype, found[key].shape) == (tensor.dtype, tensor.shape)
            assert found[key].tobytes() == tensor.tobytes()
    assert set(opened.load(refs[0], ["layer.1"])) == {"layer.1"}
    assert not (tmp_path / "store" / "model.safetensors").exists()
    assert store.stats().versions == 4
    with pytest.raises(DataError):
        opened.load("no-such-version")


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_program_that_is_not_there_is_one_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ASSAY_PEERS_DIR", str(tmp_path / "peers"))
    assert not PEERS[name].installed
    with pytest.raises(UsageError) as raised:
        PEERS[name].open(tmp_path / "store")
    assert f"the store {name!r} needs git, " in str(raised.value)
    assert f"Install: {PEERS[name].install}" in str(raised.value)
    assert not (tmp_path / "store").exists()


class PlainGit(GitStore):
    tool = "git"


def test_git_is_used_without_the_users_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template, a signature or a hook of the user's, or being called from a hook, would change what is measured."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    store = PlainGit(tmp_path / "store")
    ref = store.commit(version(1))
    assert store.load(ref).keys() == version(1).keys()
    assert (tmp_path / "home/.gitconfig").read_text().startswith("[commit]")
    assert not (tmp_path / "elsewhere").exists()


def test_the_time_of_programs_counts(tmp_path: Path) -> None:
    store = PlainGit(tmp_path / "store")
    before = store.cpu_seconds()
    subprocess.run(["python3", "-c", "sum(range(3_000_000))"], check=True)
    assert store.cpu_seconds() > before


def test_what_a_program_says_is_the_error(tmp_path: Path) -> None:
    store = PlainGit(tmp_path / "store")
    with pytest.raises(AssayError, match=r"^git: "):
        store.load("0" * 40)
