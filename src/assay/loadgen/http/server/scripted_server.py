from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError
from assay.loadgen.pacing import end_with_parent, precise_timers
from assay.native.library import declare, library

_WAITING_CONNECTIONS = 4096
SENT = np.dtype([("request", "<i8"), ("piece", "<i8"), ("ns", "<i8")])
"""One line of the server's log: when it sent which piece of the answer to which request; piece -1: the request came."""


class ConnectionEnding(IntEnum):
    """What happens to the connection after the last piece."""

    KEEP = 0
    CLOSE = 1
    RESET = 2


@dataclass(frozen=True)
class ScriptedReply:
    """An answer: pieces of bytes, each with a delay in seconds after the one before it."""

    pieces: Sequence[tuple[float, bytes]]
    ending: ConnectionEnding = ConnectionEnding.KEEP
    path: str = "/"
    """Part of the path of requests that get this answer."""
    streamed: bool | None = None
    """True, False: only for requests that ask for a stream, or that do not."""


class _Piece(Structure):
    _fields_ = (("bytes", c_char_p), ("count", c_int64), ("delay_ns", c_int64))


class _Reply(Structure):
    _fields_ = (
        ("path", c_char_p),
        ("streamed", c_int64),
        ("pieces", POINTER(_Piece)),
        ("count", c_int64),
        ("ending", c_int64),
    )


class _Settings(Structure):
    _fields_ = (
        ("listener", c_int64),
        ("replies", POINTER(_Reply)),
        ("reply_count", c_int64),
        ("in_turn", c_int64),
        ("log", c_void_p),
        ("log_room", c_int64),
        ("logged", c_void_p),
        ("stop", c_void_p),
    )


class ScriptedServer:
    """A server in a process of its own, on loopback, for as long as the `with` block lasts.

    `in_turn`: request N (of `request=N` in its path, or the Nth that comes) gets reply N modulo their count.
    Otherwise a request gets the first reply that fits its path. `log_room`: lines of the log that are kept.
    """

    def __init__(
        self, replies: Sequence[ScriptedReply], in_turn: bool = False, log_room: int = 0, port: int = 0
    ) -> None:
        loaded = library()
        if loaded is None:
            raise AssayError("the null server is compiled, and Assay was installed without a C compiler")
        declare(loaded, {"http_serve": (c_int, (POINTER(_Settings),))})
        self._library = loaded
        self._shared = mmap.mmap(-1, mmap.PAGESIZE + max(log_room, 1) * SENT.itemsize)
        self._words = np.frombuffer(self._shared, np.int64, 2)
        self._log: NDArray[np.void] = np.frombuffer(self._shared, SENT, max(log_room, 1), mmap.PAGESIZE)
        self._replies, self._in_turn, self._log_room = replies, in_turn, log_room
        self._listener = socket.create_server(("127.0.0.1", port), backlog=_WAITING_CONNECTIONS)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.pid = 0

    def log(self) -> NDArray[np.void]:
        """What was sent so far, in the order of sending."""
        return self._log[: int(self._words[1])].copy()

    def serve(self) -> None:
        """Serve in this process until it is ended."""
        precise_timers()
        settings = self._settings()
        self._library.http_serve(ctypes.byref(settings))

    def start(self) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                end_with_parent()
                self.serve()
            finally:
                os._exit(0)
        self._listener.close()

    def stop(self) -> None:
        """End the server; CPU seconds that it took are in `cpu_s` then."""
        if self.pid:
            self._words[0] = 1
            _, _, usage = os.wait4(self.pid, 0)
            self.cpu_s = usage.ru_utime + usage.ru_stime
            self.pid = 0
        self._listener.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _settings(self) -> _Settings:
        kept: list[Any] = []
        for reply in self._replies:
            pieces = [_Piece(data, len(data), int(delay * 1e9)) for delay, data in reply.pieces]
            streamed = -1 if reply.streamed is None else int(reply.streamed)
            array = (_Piece * len(pieces))(*pieces)
            kept.append(_Reply(reply.path.encode(), streamed, array, len(pieces), reply.ending))
        words = int(self._words.ctypes.data)
        return _Settings(
            listener=self._listener.fileno(),
            replies=(_Reply * len(kept))(*kept),
            reply_count=len(kept),
            in_turn=self._in_turn,
            log=int(self._log.ctypes.data) if self._log_room else None,
            log_room=self._log_room,
            logged=words + 8,
            stop=words,
        )
