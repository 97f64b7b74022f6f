"""Three versions of a model that make the codec use every method, record and stream it has, the same on every machine.

Only integer arithmetic on the output of PCG64, which numpy promises to keep as it is (NEP 19).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Tensors = dict[str, np.ndarray[Any, Any]]
LANES = 4100
"""Elements: a little more than streams of many lanes begin at, with a last round that is not whole."""
FEW = 200
"""Elements of a stream of one lane."""
FLOAT8 = (
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e4m3", "float8_e3m4", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
PLAIN = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")


def versions() -> list[Tensors]:
    return [_version(number) for number in range(3)]


def _random(seed: int, count: int) -> np.ndarray[Any, Any]:
    return np.random.PCG64(seed).random_raw(count)


def _few_values(seed: int, count: int, values: list[int], bits: int) -> np.ndarray[Any, Any]:
    """Bit patterns out of few, so that the tensors others stand on are small themselves."""
    return np.array(values, f"<u{bits // 8}")[_random(seed, count) % np.uint64(len(values))]


def _moved(patterns: np.ndarray[Any, Any], seed: int, width: int, every: int = 1) -> np.ndarray[Any, Any]:
    """One in `every` pattern plus a number of `width` bits."""
    raw = _random(seed, patterns.size)
    steps = (raw >> np.uint64(8)) & np.uint64((1 << width) - 1)
    steps[(raw >> np.uint64(56)) % np.uint64(every) != 0] = 0
    return patterns + steps.astype(patterns.dtype)


def _as(name: str, patterns: np.ndarray[Any, Any], shape: tuple[int, ...] | None = None) -> np.ndarray[Any, Any]:
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)
    found = patterns.view(dtype)
    return found if shape is None else found.reshape(shape)


F32 = [0x3C000000, 0x3D000000, 0xBD000000, 0x3E000000]
F16 = [0x2000, 0x2400, 0xA400, 0x2800]
B16 = [value >> 16 for value in F32]
F64 = [value << 32 for value in F32]


def _version(number: int) -> Tensors:
    tensors: Tensors = {}

    def differences(name: str, dtype: str, values: list[int], bits: int, width: int, every: int, count: int) -> None:
        patterns = _few_values(len(name), count, values, bits)
        for step in range(number):
            patterns = _moved(patterns, 1000 * step + width + bits, width, every)
        tensors[name] = _as(dtype, patterns)

    for count, kind in ((LANES, "lanes"), (FEW, "lane")):
        # Noise in two low bytes, in one, in none; few changes that are large; still fewer.
        for width, every in ((21, 1), (14, 1), (3, 1), (28, 25), (28, 100)):
            differences(f"{kind}.float32.{width}.{every}", "float32", F32, 32, width, every, count)
        for width, every in ((9, 1), (2, 1), (13, 25), (4, 100)):
            differences(f"{kind}.bfloat16.{width}.{every}", "bfloat16", B16, 16, width, every, count)
            differences(f"{kind}.float16.{width}.{every}", "float16", F16, 16, width, every, count)
        differences(f"{kind}.float8", "float8_e4m3fn", [0x20, 0x28, 0x30, 0xA4], 8, 2, 2, count)
    differences("lane.float64", "float64", F64, 64, 40, 1, FEW)
    differences("lane.complex128", "complex128", F64, 64, 16, 1, FEW)
    differences("lane.complex64", "complex64", F32, 32, 6, 1, FEW)
    # bfloat16 kept as float32: two low bytes that never change.
    widened = _moved(_few_values(7, FEW, B16, 16), number, 5 * number)
    tensors["lane.widened"] = _as("float32", widened.astype("<u4") << np.uint32(16))
    _alone(number, tensors)
    _shapes(number, tensors)
    return tensors


def _alone(number: int, tensors: Tensors) -> None:
    """Tensors without a base: elements whose first byte is worth coding and whose others are noise; text; integers."""
    if number == 0:
        noise = _random(11, LANES)
        leading = np.array([0x3C, 0x3D, 0xBC, 0xBD])[noise >> np.uint64(62)]
        narrow = (leading.astype("<u2") << 8) | (noise & np.uint64(0xFF)).astype("<u2")
        wide = (leading.astype("<u4") << 24) | (noise & np.uint64(0xFFFFFF)).astype("<u4")
        tensors["alone.lanes.bfloat16"], tensors["alone.lane.bfloat16"] = (
            _as("bfloat16", narrow), _as("bfloat16", narrow[:FEW].copy()),
        )  # fmt: skip
        tensors["alone.lanes.float32"], tensors["alone.lane.float32"] = (
            _as("float32", wide), _as("float32", wide[:FEW].copy()),
        )  # fmt: skip
        tensors["alone.text"] = np.resize(np.frombuffer(b"weights that are text, " * 8, "<i4"), LANES)
    for place, name in enumerate((*FLOAT8, *PLAIN)):
        values = _random(20 + place, FEW) & np.uint64(1 if name == "bool" else 7)
        for step in range(number):
            values = values ^ (_random(50 + step, FEW) % np.uint64(19) == 0)
        width = 1 if name in FLOAT8 else np.dtype(name).itemsize
        tensors[f"few.{name}"] = _as(name, values.astype(f"<u{width}"))


def _shapes(number: int, tensors: Tensors) -> None:
    grid = _few_values(3, FEW, B16, 16)
    tensors["same.bits"] = _as("bfloat16", grid, (FEW,) if number == 0 else (2, FEW // 2))
    tensors["scalar"] = np.array(number, "<f4")
    tensors["empty"] = np.zeros((0, 3), "<f8")
    chunks = np.zeros((1 << 20) + 5, "<i1")
    chunks[-3:] = number
    tensors["two.chunks"] = chunks
    tensors["odd.layout"] = np.arange(60, dtype="<i2").reshape(6, 10).T[:, ::2] + np.int16(number)
