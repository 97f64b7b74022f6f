"""The shared library, loaded once, and what it says of itself."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "lib" / "libassay.so"
LEVELS = ("scalar", "avx2", "avx512")
LIMIT = "ASSAY_NATIVE"
"""Environment variable: `none`, or the highest of LEVELS to use."""

Signature = tuple[Any, tuple[Any, ...]]


@cache
def library() -> ctypes.CDLL | None:
    """None where the package was installed without a compiler: callers take their plain path or say so."""
    limit = os.environ.get(LIMIT, LEVELS[-1])
    if limit == "none" or not PATH.is_file():
        return None
    loaded = ctypes.CDLL(str(PATH), use_errno=True)
    declare(loaded, {"assay_sources": (ctypes.c_char_p, ()), "assay_limit_level": (ctypes.c_int, (ctypes.c_int,))})
    if limit in LEVELS:
        loaded.assay_limit_level(LEVELS.index(limit))
    return loaded


def declare(loaded: ctypes.CDLL, signatures: dict[str, Signature]) -> None:
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments


def required(signatures: dict[str, Signature]) -> ctypes.CDLL:
    """The library with these functions declared, for code that is reached only where `library()` gave one."""
    loaded = library()
    if loaded is None:
        raise RuntimeError("the compiled library is not there: ask library() first")
    declare(loaded, signatures)
    return loaded


def kernel() -> str:
    """Which compiled code runs here: level and digest of its sources, or `none`; for records and fingerprints."""
    loaded = library()
    if loaded is None:
        return "none"
    return f"{LEVELS[loaded.assay_level()]} {loaded.assay_sources().decode()}"
