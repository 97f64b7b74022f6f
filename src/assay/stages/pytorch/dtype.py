from __future__ import annotations

from typing import Any

from assay.names import unknown
from assay.stages.pytorch.libraries import library

KNOWN = ("float32", "bfloat16", "float16", "float64")


def dtype_name(written: str) -> str:
    """`torch.bfloat16` or `bfloat16`; checked without importing torch."""
    name = written.removeprefix("torch.")
    if name not in KNOWN:
        raise ValueError(f"dtype: {unknown('number type', name, KNOWN)}")
    return name


def torch_dtype(written: str) -> Any:
    return getattr(library("torch", "llm"), dtype_name(written))
