"""What ALM curation calls in the compiled core (`native/c/alm/`): structures, signatures, parameters."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache
from itertools import count
from typing import Any

from assay.native.library import Signature, declare
from assay.native.library import library as core
from assay.stages.alm.parameters import BuilderParameters, OverlapParameters
from assay.stages.alm.recording import normal_form

NATIVE, PLAIN, BAD = 0, 1, 2
_serial = count(1)


class Parameters(ctypes.Structure):
    _fields_ = (
        ("serial", c_uint64),
        ("lo", c_double),
        ("hi", c_double),
        ("min_rate", c_double),
        ("min_bandwidth", c_double),
        ("threshold", c_double),
        ("target", c_double),
        ("min_speakers", c_int64),
        ("max_speakers", c_int64),
        ("truncation", c_int32),
        ("keep_segments", c_int32),
        ("drop", c_char_p),
        ("drop_size", c_uint64),
        ("drop_top", c_char_p),
        ("drop_top_size", c_uint64),
    )


class Counts(ctypes.Structure):
    _fields_ = (
        ("rows", c_int64),
        ("native", c_int64),
        ("with_windows", c_int64),
        ("windows", c_int64),
        ("filtered", c_int64),
        ("truncation_events", c_int64),
        ("duration", c_double),
    )


_SIGNATURES: dict[str, Signature] = {
    "alm_new": (c_void_p, ()),
    "alm_free": (None, (c_void_p,)),
    "alm_keep_memory": (None, ()),
    "alm_lines": (c_int64, (c_char_p, c_uint64)),
    "alm_build": (c_int64, (c_void_p, c_char_p, c_uint64, POINTER(Parameters))),
    "alm_overlap": (c_int64, (c_void_p, POINTER(Parameters))),
    "alm_counts": (None, (c_void_p, POINTER(Counts))),
    "alm_find": (c_int64, (c_void_p, c_int64, c_uint32, POINTER(c_uint64))),
    "alm_set_kind": (None, (c_void_p, c_int64, c_uint32)),
    "alm_durations": (None, (c_void_p, POINTER(c_double))),
    "alm_digest": (c_int64, (c_void_p, POINTER(c_uint64), POINTER(c_uint64))),
    "alm_write": (c_int64, (c_void_p, c_int64, c_int64, c_int, POINTER(c_void_p))),
    "alm_save": (c_uint64, (c_void_p, c_void_p)),
    "alm_load": (c_int64, (c_void_p, c_char_p, c_uint64)),
    "alm_float": (c_int64, (c_double, c_char_p)),
}


@cache
def library() -> Any:
    """The compiled core with what ALM calls in it, or None where the package was installed without it."""
    loaded = core()
    if loaded is None:
        return None
    declare(loaded, _SIGNATURES)
    loaded.alm_keep_memory()
    return loaded


def builder_parameters(parameters: BuilderParameters) -> Parameters:
    drop, drop_top = _names(parameters.dropped), _names(parameters.dropped_top_level)
    return Parameters(
        serial=next(_serial),
        lo=parameters.lo,
        hi=parameters.hi,
        min_rate=parameters.min_sample_rate,
        min_bandwidth=parameters.min_bandwidth,
        min_speakers=parameters.min_speakers,
        max_speakers=parameters.max_speakers,
        truncation=parameters.truncation,
        keep_segments="segments" not in parameters.dropped_top_level,
        drop=drop,
        drop_size=len(drop),
        drop_top=drop_top,
        drop_top_size=len(drop_top),
    )


def overlap_parameters(parameters: OverlapParameters) -> Parameters:
    return Parameters(threshold=parameters.threshold, target=parameters.target_duration)


def _names(names: frozenset[str]) -> bytes:
    """The names as they stand in a normal-form line, without their quotes, each ended by a zero byte."""
    return b"".join(normal_form(name).encode()[1:-1] + b"\0" for name in sorted(names))


__all__ = ["BAD", "NATIVE", "PLAIN", "Counts", "Parameters", "byref", "library"]
