"""The shared library, loaded once, and what it says of itself."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

from assay.errors import UsageError

PATH = Path(__file__).parent / "lib" / "libassay.so"
LEVELS = ("scalar", "avx2", "avx512")
LIMIT = "ASSAY_NATIVE"
"""Environment variable: `none`, or the highest of LEVELS to use."""

Signature = tuple[Any, tuple[Any, ...]]


def library() -> ctypes.CDLL | None:
    """None where the library is missing or forbidden: callers take their plain path, or say what `absence` says."""
    found = _found()
    return None if isinstance(found, str) else found


def absence() -> str | None:
    """Why the compiled library is not used and what to do, one sentence; None where it is used."""
    found = _found()
    return found if isinstance(found, str) else None


def declare(loaded: ctypes.CDLL, signatures: dict[str, Signature]) -> None:
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments


def require(signatures: dict[str, Signature]) -> ctypes.CDLL:
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


@cache
def _found() -> ctypes.CDLL | str:
    """The library, or why there is none."""
    limit = os.environ.get(LIMIT) or LEVELS[-1]
    if limit not in ("none", *LEVELS):
        raise UsageError(f"{LIMIT}={limit}: it is none, {', '.join(LEVELS[:-1])} or {LEVELS[-1]}")
    if limit == "none":
        return f"the compiled library is not used, because {LIMIT}=none says so; unset it to use the library"
    if not PATH.is_file():
        return (
            f"the compiled library is missing ({PATH}): the package was made or installed without a C compiler; "
            "with gcc there, install it again (in a checkout: make setup)"
        )
    try:
        loaded = ctypes.CDLL(str(PATH), use_errno=True)
    except OSError as error:
        return f"the compiled library cannot be loaded ({error}): with gcc there, install the package again from source"
    declare(loaded, {"assay_sources": (ctypes.c_char_p, ()), "assay_limit_level": (ctypes.c_int, (ctypes.c_int,))})
    loaded.assay_limit_level(LEVELS.index(limit))
    return loaded
