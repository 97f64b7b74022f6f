"""Bit for bit: every dtype, every 16-bit pattern, and the cases in which such stores return something else."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from tests.weights.conftest import same

from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.repository import Repository

SETTINGS = ("small", "balanced", "fast")


def random_bits(kind, count, rng):
    raw = rng.integers(0, 256, count * kind.itemsize, dtype=np.uint8)
    if kind.name == "bool":
        raw &= 1
    return raw.view(kind.numpy)


def near(kind, tensor, rng):
    """A few bits of a few elements changed."""
    raw = tensor.view(np.uint8).copy()
    places = rng.integers(0, raw.size, max(1, raw.size // 50))
    raw[places] ^= 1
    return raw.view(kind.numpy)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_every_dtype_alone_and_as_a_difference(tmp_path, rng, dtype, setting):
    kind = ELEMENT_TYPES[dtype]
    repo = Repository.init(tmp_path / "r", setting)
    first = {
        "many": random_bits(kind, 5000, rng),
        "wide": random_bits(kind, 70_000, rng).reshape(7, 10_000),
        "few": random_bits(kind, 3, rng),
        "one": random_bits(kind, 1, rng).reshape(()),
        "none": np.empty((0, 4), kind.numpy),
        "constant": np.zeros(9000, kind.numpy),
    }
    second = {name: near(kind, t.reshape(-1), rng).reshape(t.shape) if t.size else t for name, t in first.items()}
    ids = [repo.commit(first), repo.commit(second)]
    again = Repository.open(tmp_path / "r")
    assert same(again.checkout(ids[0]), first)
    assert same(again.checkout(ids[1]), second)
    assert again.verify().passed


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int16", "uint16"])
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("delta", ["AUTO", "COMPRESSED", "XOR", "SPARSE", "NONE", "FLOAT32_RAW"])
def test_all_65536_patterns(tmp_path, rng, dtype, delta, setting):
    kind = ELEMENT_TYPES[dtype]
    repo = Repository.init(tmp_path / "r", {"delta_encoding": delta, "setting": setting})
    patterns = np.arange(65536, dtype=np.uint16)
    versions = [
        patterns,
        np.roll(patterns, 1),
        patterns ^ np.uint16(0x8000),
        rng.permutation(patterns),
        patterns + rng.integers(0, 3, 65536, dtype=np.uint16),
    ]
    models = [{"w": version.view(kind.numpy)} for version in versions]
    ids = [repo.commit(model) for model in models]
    for commit_id, model in zip(ids, models, strict=True):
        assert same(repo.checkout(commit_id), model)


SPECIAL = {
    np.float32: [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFFFFFFF, 0x7F800001, 1, 0x807FFFFF],
    np.float64: [0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000001, 0x7FF8DEADBEEF0001, 1, (1 << 63) | 1],
}


@pytest.mark.parametrize("dtype", SPECIAL)
def test_nan_payloads_infinities_negative_zero_denormals(repo, rng, dtype):
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    values = np.resize(np.array(SPECIAL[dtype], unsigned), 20_000)
    models = [{"w": values.view(dtype)}, {"w": rng.permutation(values).view(dtype)}, {"w": (values ^ 1).view(dtype)}]
    ids = [repo.commit(model) for model in models]
    assert all(same(repo.checkout(i), model) for i, model in zip(ids, models, strict=True))


def test_revert_to_an_earlier_value(repo, rng):
    a = {"w": rng.standard_normal(3000).astype(np.float32)}
    b = {"w": a["w"] + np.float32(1e-3)}
    ids = [repo.commit(model) for model in (a, b, a, b, a)]
    for commit_id, model in zip(ids, (a, b, a, b, a), strict=True):
        assert same(repo.checkout(commit_id), model)
    assert repo.stats().unique_tensors == 2


def test_a_similar_then_an_unrelated_tensor_under_one_name(repo, rng):
    a = rng.standard_normal(3000).astype(np.float32)
    models = [{"w": a}, {"w": a * np.float32(1.0001)}, {"w": rng.standard_normal(3000).astype(np.float32)}]
    ids = [repo.commit(model) for model in models]
    assert all(same(repo.checkout(i), model) for i, model in zip(ids, models, strict=True))


def test_a_name_reused_with_another_shape_or_dtype(repo, rng):
    values = rng.standard_normal(6000).astype(np.float32)
    models = [
        {"w": values},
        {"w": values.reshape(60, 100)},
        {"w": values[:4000]},
        {"w": values.astype(np.float16)},
        {"w": values.view(np.int32)},
        {"w": np.concatenate([values, values])},
        {"w": values.astype(ml_dtypes.bfloat16).reshape(100, 60)},
    ]
    ids = [repo.commit(model) for model in models]
    assert all(same(repo.checkout(i), model) for i, model in zip(ids, models, strict=True))
    assert repo.verify().passed


def test_tiny_tensors_change(repo):
    models = [{"b": np.array([float(i), 1.0], np.float32), "s": np.float32(i).reshape(())} for i in range(20)]
    ids = [repo.commit(model) for model in models]
    assert all(same(repo.checkout(i), model) for i, model in zip(ids, models, strict=True))


def test_layouts_that_are_not_contiguous(repo, rng):
    square = rng.standard_normal((300, 400)).astype(np.float32)
    model = {"t": square.T, "s": square[::2, ::3], "r": square[::-1], "f": np.asfortranarray(square)}
    model["big"] = square.astype(">f4")
    model["broadcast"] = np.broadcast_to(np.float32(3), (50, 60))
    out = repo.checkout(repo.commit(model))
    for name, tensor in model.items():
        assert out[name].shape == tensor.shape
        assert np.ascontiguousarray(out[name]).tobytes() == np.ascontiguousarray(tensor, "<f4").tobytes()


def test_more_than_one_chunk_and_a_base_of_another_length(repo, rng):
    size = (1 << 20) + 777
    base = rng.standard_normal(size).astype(np.float32)
    longer = np.concatenate([base + np.float32(1e-3), base[:5000]])
    models = [{"w": base}, {"w": longer}, {"w": longer[: size - 900] * np.float32(1.001)}]
    ids = [repo.commit(model) for model in models]
    assert all(same(repo.checkout(i), model) for i, model in zip(ids, models, strict=True))
    assert repo.stats().deltas == 2


def test_widened_values_are_found_out(repo, rng):
    """bfloat16 kept as float32: the low halves are zeros, and must not be paid for."""
    base = rng.standard_normal(200_000).astype(ml_dtypes.bfloat16)
    child = (base.astype(np.float32) * 1.01).astype(ml_dtypes.bfloat16)
    models = [{"w": base.astype(np.float32)}, {"w": child.astype(np.float32)}]
    ids = [repo.commit(model) for model in models]
    assert all(same(repo.checkout(i), model) for i, model in zip(ids, models, strict=True))
    assert repo.stats().ratio > 3


def test_a_second_process_sees_and_adds(tmp_path, rng):
    repo = Repository.init(tmp_path / "r")
    model = {"w": rng.standard_normal(5000).astype(np.float32)}
    first = repo.commit(model)
    code = (
        "import sys; from assay.weights.repository import Repository; r = Repository.open(sys.argv[1]);"
        "m = r.checkout('main'); m['w'] = m['w'] * 2; m['x'] = m['w'] / 2; print(r.commit(m))"
    )
    out = subprocess.run([sys.executable, "-c", code, str(tmp_path / "r")], check=True, capture_output=True, text=True)
    second = repo.checkout(out.stdout.strip())
    assert same(second, {"w": model["w"] * 2, "x": model["w"]})
    assert same(repo.checkout(first), model)
    assert repo.stats().unique_tensors == 2


def test_lossy_encodings_say_so_and_stay_near(tmp_path, rng):
    base = rng.standard_normal(50_000).astype(np.float32)
    child = base + np.float32(1e-2) * rng.standard_normal(50_000).astype(np.float32)
    errors = {}
    for encoding in ("LOSSY_INT8_QUANTIZED", "LOSSY_INT16_QUANTIZED"):
        repo = Repository.init(tmp_path / encoding, {"delta_encoding": encoding})
        repo.commit({"w": base})
        out = repo.checkout(repo.commit({"w": child}))["w"]
        assert repo.stats().lossy_tensors == 1
        assert repo.verify().passed
        assert same(repo.checkout(repo.commit({"w": out})), {"w": out})
        errors[encoding] = float(np.abs(out - child).max())
    assert 0 < errors["LOSSY_INT16_QUANTIZED"] < errors["LOSSY_INT8_QUANTIZED"] / 100
    exact = Repository.init(tmp_path / "exact")
    exact.commit({"w": base})
    assert same(exact.checkout(exact.commit({"w": child})), {"w": child})
    assert exact.stats().lossy_tensors == 0
