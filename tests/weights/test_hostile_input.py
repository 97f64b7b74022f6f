from __future__ import annotations

import json
import os
import pickle
import resource
import struct
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.weights.files.model_files import open_model
from assay.weights.repository import Repository
from assay.weights.transfer import clone
from assay.weights.versions.commit import parse_commit


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"a": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


HEADERS = {
    "100 dimensions": entry(shape=[1] * 100, offsets=[0, 4]),
    "20,000 dimensions": entry(shape=[2**31] * 20_000),
    "empty, and too large to be": entry(shape=[0, 2**62, 2**62], offsets=[0, 0]),
    "a length beyond an index": entry(shape=[2**63, 0], offsets=[0, 0]),
    "a list for a dtype": entry(dtype=["F32"]),
    "a mapping for a dtype": entry(dtype={}),
    "text for a shape": entry(shape="22"),
    "a mapping for a shape": entry(shape={"2": 2}),
    "true for a length": entry(shape=[True, 2]),
    "offsets backwards": entry(offsets=[8, 0]),
    "three offsets": entry(offsets=[0, 8, 9]),
    "nothing for a tensor": {"a": None},
    "a list for a header": [1],
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_safetensors_header_that_lies_is_one_message(tmp_path, capsys, header):
    Repository.init(tmp_path / "repo")
    written = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(written)) + written + bytes(64))
    assert main(["weights", "import", str(tmp_path / "repo"), str(path), "-m", "x"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"assay: {path}")
    assert said.count("\n") == 1
    assert len(said) < 600


def doubled_tuple() -> bytes:
    return b")" + b"".join(b"\x94h" + bytes([number]) + b"\x86" for number in range(60))


def doubled(value, make):
    for _ in range(60):
        value = make(value)
    return pickle.dumps(value, 4)


def tensor(size: tuple[int, ...], stride: tuple[int, ...]) -> bytes:
    def plain(value):
        return pickle.dumps(value, 2)[2:-1].replace(b"q\x00", b"")

    storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ"
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\0" + plain(size) + plain(stride) + b"\x89}tR."
    )


PICKLES = {
    "a doubled tuple as a key": b"\x80\x04}" + doubled_tuple() + b"K\x01s.",
    "a doubled tuple as a key of an OrderedDict": b"\x80\x04ccollections\nOrderedDict\n("
    b"](" + doubled_tuple() + b"K\x01\x86etR.",
    "a doubled tuple as the name of a storage": b"\x80\x04(X\x07\0\0\0storagectorch\nFloatStorage\n"
    + doubled_tuple()
    + b"X\x03\0\0\0cpuK\x04tQ.",
    "a doubled tuple in a set": b"\x80\x04\x8f(" + doubled_tuple() + b"\x90.",
    "a doubled list": doubled([], lambda value: [value, value]),
    "a doubled mapping": doubled({}, lambda value: {"a": value, "b": value}),
    "keys of one hash": b"\x80\x04}("
    + b"".join(b"\x8a\x12" + (n * (2**61 - 1) << 61).to_bytes(18, "little") + b"N" for n in range(1, 50_000))
    + b"u.",
    "deep nesting": b"\x80\x04" + b"]" * 200_000 + b"a" * 199_999 + b".",
    "names that grow": doubled("x", lambda value: {"y" * 1000: value}),
    "a tensor that repeats its storage without end": tensor((2**20, 2**20, 2**20), (0, 0, 0)),
    "a tensor of 100 dimensions": tensor((1,) * 100, (1,) * 100),
    "a tensor empty, and too large to be": tensor((2**62, 2**62, 0), (1, 1, 1)),
    "a string longer than the file": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b"a.",
    "nothing": b"",
}


@pytest.mark.parametrize("written", PICKLES.values(), ids=PICKLES)
def test_a_pytorch_file_that_would_not_end_is_one_message(tmp_path, written):
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", written)
        archive.writestr("archive/data/0", bytes(16))
    with pytest.raises(DataError, match=r"model\.pt") as caught:
        open_model(path)
    assert len(str(caught.value)) < 600


def test_a_remote_commit_whose_shape_is_not_its_digests_is_refused_at_clone(repo, tmp_path):
    tip = repo.show(repo.commit({"a": np.arange(6, dtype=np.float32)}))
    for lie in (replace_entry(tip, shape=(2, 3)), replace_entry(tip, dtype="int32")):
        repo.branch("main", repo.commits.write(lie).id)
        target = tmp_path / lie.entries[0].dtype
        with pytest.raises(DataError, match="another dtype or shape of tensor 'a'"):
            clone(str(repo.path), target)
        assert not target.exists()


def replace_entry(commit, **fields):
    return replace(commit, entries=(commit.entries[0]._replace(**fields),))


@pytest.mark.parametrize("when", [-1e300, 1e300, float("nan"), float("inf"), -5.0, 3e11])
def test_an_odd_time_of_a_commit_is_one_message(repo, capsys, when):
    commit = repo.show(repo.commit({"a": np.ones(3, np.float32)}))
    repo.branch("main", repo.commits.write(replace(commit, created_at=when)).id)
    assert main(["weights", "log", str(repo.path)]) == 2
    assert "is not a commit: its time" in capsys.readouterr().err


def test_a_commit_of_odd_types_is_refused():
    from zstandard import ZstdCompressor

    good = {"parents": [], "message": "", "branch": "main", "created_at": 1.0, "entries": []}
    for odd in (
        {"created_at": 10**400},
        {"created_at": []},
        {"entries": [["a", ["float32"], [3], "0" * 48]]},
        {"entries": [["a", "float32", 3, "0" * 48]]},
        {"entries": [["a", "float32", [1] * 100, "0" * 48]]},
        {"entries": [["a", "float32", [2**62, 2**62, 0], "0" * 48]]},
        {"entries": [3]},
        {"parents": 3},
    ):
        with pytest.raises(DataError, match="commit"):
            parse_commit("0" * 48, ZstdCompressor().compress(json.dumps({**good, **odd}).encode()))


def test_a_pack_cut_short_while_it_is_mapped_is_named(repo):
    repo.commit({"a": np.arange(100_000, dtype=np.float32)})
    opened = Repository.open(repo.path, {"delta_encoding": "FLOAT32_RAW"})
    opened.objects.refresh()
    (pack,) = (repo.path / "packs").iterdir()
    os.truncate(pack, 100)
    with pytest.raises(DataError, match=rf"{pack.name} is damaged: it was cut short"):
        opened.checkout("main")
    assert not opened.verify().passed


def test_threads_on_one_repository(tmp_path):
    repo = Repository.init(tmp_path / "repo", {"cleanup_frequency": "aggressive"})

    def write(number):
        for turn in range(4):
            value = np.full(500, number * 10 + turn, np.float32)
            tip = repo.commit({"a": value, "b": value + 1}, branch=f"thread-{number}")
            assert (repo.tensor(tip, "b") == value + 1).all()
            repo.verify()
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(write, range(6)))
    assert {len(repo.log(f"thread-{number}")) for number in range(6)} == {4}
    assert repo.verify().problems == ()


WRITES = {
    "init": "init {new}",
    "import": "import {repo} {model} -m x",
    "branch": "branch {repo} third",
    "tag": "tag {repo} v1",
    "gc": "gc {repo}",
    "export": "export {repo} main {new}/x.safetensors",
    "push": "push {repo} {new}",
    "clone": "clone {repo} {new}",
    "pull": "pull {repo} {other}",
}


@pytest.mark.parametrize("command", WRITES)
def test_a_disk_that_takes_no_more_is_one_message_and_leaves_nothing_half(tmp_path, command):
    repo, other = Repository.init(tmp_path / "repo"), Repository.init(tmp_path / "other")
    other.commit({"z": np.zeros(900, np.float32)}, branch="elsewhere")
    for number in range(10):
        repo.commit({"a": np.full(900, number, np.float32)})
    kept = repo.references
    header = json.dumps(entry(shape=[900], offsets=[0, 3600])).encode()
    model = tmp_path / "model.safetensors"
    model.write_bytes(struct.pack("<Q", len(header)) + header + bytes(3600))
    words = WRITES[command].format(repo=repo.path, other=other.path, model=model, new=tmp_path / "new").split()
    done = subprocess.run(
        [sys.executable, "-m", "assay", "weights", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        # Files of this interpreter's bytecode would be cut short as well, and stay so.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40)),
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("assay: ")
    assert "cannot be written: File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list((repo.path / "tmp").iterdir())
    assert not list(tmp_path.rglob("*.part"))
    assert command not in ("init", "clone") or not (tmp_path / "new").exists()
    assert repo.references == kept
    assert repo.verify().passed
