from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from tests.weights.conftest import same

from assay.errors import DataError, UsageError
from assay.weights.files.model_files import export_model, open_model
from assay.weights.files.safetensors_file import DTYPES, SafetensorsFile
from assay.weights.files.torch_file import TorchFile


def all_dtypes(rng):
    from assay.weights.element_types import ELEMENT_TYPES

    return {
        f"t.{name}": rng.integers(0, 2, 33 * ELEMENT_TYPES[name].itemsize, dtype=np.uint8)
        .view(ELEMENT_TYPES[name].numpy)
        .reshape(3, 11)
        for name in DTYPES.values()
    }


def test_out_to_safetensors_and_back(repo, rng, tmp_path):
    model = {**all_dtypes(rng), "scalar": np.float32(3).reshape(()), "empty": np.empty((0, 3), np.float16)}
    repo.commit(model)
    export_model(repo, "main", tmp_path / "m.safetensors")
    assert same(dict(open_model(tmp_path / "m.safetensors")), model)
    second = repo.commit(open_model(tmp_path / "m.safetensors"))
    assert same(repo.checkout(second), model)


def test_the_library_reads_what_we_write_and_we_what_it_writes(repo, rng, tmp_path):
    model = {"a": rng.standard_normal((4, 5)).astype(np.float32), "b": rng.integers(0, 9, 7), "c": np.array([True])}
    repo.commit(model)
    export_model(repo, "main", tmp_path / "ours.safetensors")
    assert same(safetensors.numpy.load_file(tmp_path / "ours.safetensors"), model)
    safetensors.numpy.save_file(model, tmp_path / "theirs.safetensors")
    assert same(dict(open_model(tmp_path / "theirs.safetensors")), model)


def test_shards_with_an_index(repo, rng, tmp_path):
    model = {f"w{i}": rng.standard_normal(1000).astype(np.float32) for i in range(6)}
    repo.commit(model)
    written = export_model(repo, "main", tmp_path / "folder", shard_bytes=9000)
    assert len(written) == 4
    assert same(dict(open_model(tmp_path / "folder")), model)
    index = tmp_path / "folder" / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"w0": "../../secret.safetensors"}}))
    with pytest.raises(DataError, match="not a file beside it"):
        open_model(tmp_path / "folder")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\xff" * 8, "longer than the file"),
        (struct.pack("<Q", 2) + b"xx", "not valid JSON"),
        (struct.pack("<Q", 2) + b"[]", "not a mapping"),
        ({"w": {"dtype": "F32", "shape": [1 << 50], "data_offsets": [0, 4]}}, "does not fit"),
        ({"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "does not fit"),
        ({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 5]}}, "not described"),
        ({"w": {"dtype": "F6", "shape": [1], "data_offsets": [0, 1]}}, "dtype F6"),
    ],
)
def test_broken_safetensors(tmp_path, header, message):
    if isinstance(header, dict):
        body = json.dumps(header).encode()
        header = struct.pack("<Q", len(body)) + body
    (tmp_path / "x.safetensors").write_bytes(header)
    with pytest.raises(DataError, match=message):
        SafetensorsFile(tmp_path / "x.safetensors")


def test_a_path_in_a_tensor_name_stays_a_name(repo, tmp_path):
    model = {"../../outside": np.zeros(3, np.float32), "/etc/x": np.ones(3, np.float32)}
    repo.commit(model)
    (tmp_path / "out").mkdir()
    export_model(repo, "main", tmp_path / "out" / "shards", shard_bytes=12)
    assert same(dict(open_model(tmp_path / "out" / "shards")), model)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "repo"]


def test_pytorch_files_of_every_kind(tmp_path, rng):
    import torch

    weight = torch.randn(6, 8)
    state = {
        "model": {"w": weight, "t": weight.T, "part": weight[2:4, 1:5], "p": torch.nn.Parameter(torch.ones(3))},
        "half": torch.randn(5).half(),
        "brain": torch.randn(5).bfloat16(),
        "eight": torch.randn(5).to(torch.float8_e4m3fn),
        "scalar": torch.tensor(7),
        "empty": torch.empty(0, 3),
        "flags": torch.tensor([True, False]),
        "complex": torch.randn(2, dtype=torch.complex64),
        "step": 10,
        "states": [{"exp_avg": torch.zeros(2)}],
    }
    torch.save(state, tmp_path / "m.pt")
    file = TorchFile(tmp_path / "m.pt")
    assert np.array_equal(file["model.t"], weight.T.numpy())
    assert np.array_equal(file["model.part"], weight[2:4, 1:5].numpy())
    assert np.array_equal(file["model.p"], np.ones(3, np.float32))
    assert file["brain"].dtype == ml_dtypes.bfloat16
    assert file["brain"].tobytes() == state["brain"].view(torch.int16).numpy().tobytes()
    assert file["eight"].tobytes() == state["eight"].view(torch.uint8).numpy().tobytes()
    assert file["scalar"].shape == ()
    assert file["empty"].shape == (0, 3)
    assert file["states.0.exp_avg"].tolist() == [0, 0]
    assert file.skipped == ["step"]


def torch_zip(path, pickled, storages=()):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/data.pkl", pickled)
        for name, data in dict(storages).items():
            archive.writestr(f"m/data/{name}", data)


class Harm:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.system, (f"touch {self.target}",)


def test_a_pytorch_file_runs_nothing(tmp_path):
    target = tmp_path / "harm"
    torch_zip(tmp_path / "m.pt", pickle.dumps({"w": Harm(target), "x": [Harm(target)]}))
    file = TorchFile(tmp_path / "m.pt")
    assert dict(file) == {}
    assert sorted(file.skipped) == ["w", "x.0"]
    assert not target.exists()


def test_broken_pytorch_files(tmp_path):
    (tmp_path / "old.pt").write_bytes(pickle.dumps({}))
    with pytest.raises(DataError, match="zip format"):
        open_model(tmp_path / "old.pt")
    torch_zip(tmp_path / "cut.pt", b"\x80\x02}q\x00X")
    with pytest.raises(DataError, match=r"cut\.pt"):
        open_model(tmp_path / "cut.pt")
    beyond = (
        b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
        b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00K\x64\x85K\x01\x85\x89NtRs."
    )
    torch_zip(tmp_path / "beyond.pt", beyond, {"0": bytes(8)})
    with pytest.raises(DataError, match="goes beyond its storage of 2 elements"):
        open_model(tmp_path / "beyond.pt")


def test_what_cannot_be_read_or_written_is_said(repo, tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        open_model(tmp_path / "nothing.safetensors")
    with pytest.raises(DataError, match=r"has no \.safetensors"):
        open_model(tmp_path)
    repo.commit({"w": np.zeros(2, np.complex128)})
    with pytest.raises(DataError, match="does not have"):
        export_model(repo, "main", tmp_path / "x.safetensors")
    with pytest.raises(UsageError, match="must end in"):
        export_model(repo, "main", tmp_path / "x.bin")
