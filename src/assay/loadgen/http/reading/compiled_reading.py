"""Answers read by the compiled library (c/http/events.c); what it is not sure of is read in Python."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int64, c_void_p
from dataclasses import replace
from functools import cache

import numpy as np

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.reading.deltas import DELTA, USAGE, Deltas
from assay.loadgen.http.reading.plain_reading import read_plain
from assay.native.library import declare, library


class _Reading(Structure):
    _fields_ = (
        ("rows", c_void_p),
        ("row_count", c_int64),
        ("pieces", c_void_p),
        ("piece_count", c_int64),
        ("bodies", c_void_p),
        ("body_bytes", c_int64),
        ("deltas", c_void_p),
        ("delta_room", c_int64),
        ("counts", c_void_p),
        ("texts", c_void_p),
        ("text_bytes", c_int64),
        ("unsure", c_void_p),
    )


@cache
def reading_functions() -> ctypes.CDLL | None:
    loaded = library()
    if loaded is not None:
        signature = (c_int64, (POINTER(_Reading),))
        declare(loaded, {"delta_most": signature, "delta_read_all": signature})
    return loaded


def read_compiled(loaded: ctypes.CDLL, exchanges: Exchanges) -> Deltas:
    rows = np.ascontiguousarray(exchanges.rows)
    pieces, bodies = np.ascontiguousarray(exchanges.pieces), np.ascontiguousarray(exchanges.bodies)
    usage = np.empty(len(rows), USAGE)
    unsure = np.zeros(len(rows), np.uint8)
    texts = np.empty(len(bodies), np.uint8)
    reading = _Reading(
        rows=rows.ctypes.data,
        row_count=len(rows),
        pieces=pieces.ctypes.data,
        piece_count=len(pieces),
        bodies=bodies.ctypes.data,
        body_bytes=len(bodies),
        counts=usage.ctypes.data,
        texts=texts.ctypes.data,
        unsure=unsure.ctypes.data,
    )
    deltas = np.empty(loaded.delta_most(ctypes.byref(reading)), DELTA)
    reading.deltas, reading.delta_room = deltas.ctypes.data, len(deltas)
    count = loaded.delta_read_all(ctypes.byref(reading))
    found = Deltas(deltas[:count], texts[: reading.text_bytes], usage)
    return _read_again(exchanges, found, np.flatnonzero(unsure)) if unsure.any() else found


def _read_again(exchanges: Exchanges, found: Deltas, unsure: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Deltas:
    plain = read_plain(replace(exchanges, rows=exchanges.rows[unsure]))
    again = plain.rows.copy()
    again["request"] = unsure[again["request"]]
    again["text_start"] += len(found.texts)
    rows = np.concatenate([found.rows, again])
    usage = found.usage.copy()
    usage[unsure] = plain.usage
    order = np.argsort(rows["request"], kind="stable")
    return Deltas(rows[order], np.concatenate([found.texts, plain.texts]), usage)
