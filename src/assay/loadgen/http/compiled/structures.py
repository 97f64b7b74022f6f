"""The structures of c/http/engine.h, and the functions of the compiled client."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char, c_int, c_int64, c_void_p
from functools import cache

from assay.native.library import declare, library


class Settings(Structure):
    _fields_ = (
        ("most_in_flight", c_int64),
        ("most_connections", c_int64),
        ("connect_ns", c_int64),
        ("idle_ns", c_int64),
        ("total_ns", c_int64),
        ("most_answer_bytes", c_int64),
        ("failures_in_a_row", c_int64),
        ("rows", c_void_p),
        ("rows_room", c_int64),
        ("pieces", c_void_p),
        ("pieces_room", c_int64),
        ("bodies", c_void_p),
        ("bodies_room", c_int64),
        ("page", c_void_p),
        ("address", c_char * 128),
        ("address_bytes", c_int64),
    )


class ClientCounters(Structure):
    """Counters of a client that runs, in memory that the process which started it reads meanwhile."""

    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "stop",
            "started_ns",
            "plan_due",
            "later",
            "sent",
            "ended",
            "failed",
            "in_flight",
            "pieces",
            "body_bytes",
            "connections",
            "spun_ns",
            "ended_by",
            "last_errno",
            "cpu_ns",
        )
    )


class PlanStructure(Structure):
    _fields_ = (
        ("messages", c_void_p),
        ("message_bytes", c_void_p),
        ("message_count", c_int64),
        ("order", c_void_p),
        ("at_ns", c_void_p),
        ("count", c_int64),
        ("cancel_ns", c_int64),
        ("cancel_events", c_int64),
        ("grouped", c_int64),
    )


@cache
def functions() -> ctypes.CDLL | None:
    loaded = library()
    if loaded is None:
        return None
    declare(
        loaded,
        {
            "http_open": (c_void_p, (POINTER(Settings),)),
            "http_memory": (None, (c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p, c_int64)),
            "http_connect": (c_int64, (c_void_p, c_int64)),
            "http_plan": (None, (c_void_p, POINTER(PlanStructure))),
            "http_submit": (c_int64, (c_void_p, ctypes.c_char_p, c_int64, c_int64, c_int64, c_int64)),
            "http_run": (c_int, (c_void_p, c_int64, c_int64, c_int64, c_int)),
            "http_ended": (c_int64, (c_void_p, POINTER(c_int64), c_int64)),
            "http_forget": (None, (c_void_p,)),
            "http_close": (None, (c_void_p,)),
        },
    )
    return loaded
