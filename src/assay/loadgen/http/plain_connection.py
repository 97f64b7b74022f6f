from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Sequence
from enum import Enum, auto
from time import monotonic_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import NEW, PIECE, ROW
from assay.loadgen.http.http_client import Address, Fault
from assay.loadgen.http.response_reader import ResponseReader

NOBODY = -1
RECEIVED_AT_ONCE = 65536


class Phase(Enum):
    CONNECTING = auto()
    HANDSHAKE = auto()
    IDLE = auto()
    BUSY = auto()
    CLOSED = auto()


class PlainConnection:
    """One connection and, while it is busy, the one request on it."""

    def __init__(self, number: int, address: Address, tls: ssl.SSLContext | None, host: str) -> None:
        self.number = number
        self.phase = Phase.CONNECTING
        self.opened_ns = monotonic_ns()
        self.request = NOBODY
        self.served = 0
        self.unsent = memoryview(b"")
        self.reader = ResponseReader()
        self.piece_ns: list[int] = []
        self.piece_end: list[int] = []
        self.last_ns = self.opened_ns
        self.wants_write = True
        self.error: str = ""
        self._tls, self._host = tls, host
        self._socket = socket.socket(address[0], socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._code = self._socket.connect_ex(address[1])

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def connecting(self) -> bool:
        return self.phase in (Phase.CONNECTING, Phase.HANDSHAKE)

    def advance(self) -> Fault:
        """Go on with connecting. The fault that ends it, or NONE; `phase` says whether it is done."""
        if self.phase == Phase.CONNECTING:
            code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                self.error = os.strerror(code)
                return Fault.REFUSED
            if self._tls is None:
                self.phase = Phase.IDLE
                return Fault.NONE
            self._socket = self._tls.wrap_socket(
                self._socket, server_hostname=self._host, do_handshake_on_connect=False
            )
            self.phase = Phase.HANDSHAKE
        return self._shake_hands()

    def _shake_hands(self) -> Fault:
        assert isinstance(self._socket, ssl.SSLSocket)
        try:
            self._socket.do_handshake()
        except ssl.SSLWantReadError:
            self.wants_write = False
        except ssl.SSLWantWriteError:
            self.wants_write = True
        except (ssl.SSLError, OSError) as error:
            self.error = str(getattr(error, "verify_message", "") or error)
            return Fault.TLS
        else:
            self.phase = Phase.IDLE
        return Fault.NONE

    def begin(self, request: int, message: bytes, no_body: bool) -> None:
        self.request = request
        self.phase = Phase.BUSY
        self.reader = ResponseReader(no_body)
        self.piece_ns, self.piece_end = [], []
        self.unsent = memoryview(message)
        self.last_ns = monotonic_ns()

    def send(self) -> Fault:
        while self.unsent:
            try:
                self.unsent = self.unsent[self._socket.send(self.unsent) :]
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                break
            except OSError as error:
                # The server has stopped reading, but an answer may lie in the socket: receiving tells.
                self.unsent = memoryview(b"")
                self.error = str(error)
                break
        self.wants_write = bool(self.unsent)
        return Fault.NONE

    def receive(self) -> bytes | Fault | None:
        """Bytes (none: the other side closed), or what went wrong, or None where there is nothing yet."""
        try:
            return self._socket.recv(RECEIVED_AT_ONCE)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except ssl.SSLError as error:
            self.error = str(error)
            # A server that closes without saying so in TLS: the same as a closed connection.
            return b"" if isinstance(error, ssl.SSLEOFError) else Fault.TLS
        except OSError as error:
            self.error = str(error)
            return Fault.RESET

    def pending(self) -> bool:
        """TLS may hold bytes that the selector cannot see."""
        return isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0

    def end_request(self) -> None:
        self.request = NOBODY
        self.served += 1
        self.phase = Phase.IDLE

    def close(self) -> None:
        self.phase = Phase.CLOSED
        self._socket.close()


class PlainRequest:
    """One request: its message and limits, and what became of it."""

    __slots__ = (
        "attempts",
        "body",
        "cancel_events",
        "cancel_ns",
        "connection",
        "end_ns",
        "event_stream",
        "fault",
        "first_byte_ns",
        "intended_ns",
        "message",
        "number",
        "piece_end",
        "piece_ns",
        "sent_ns",
        "state",
        "status",
    )

    def __init__(self, number: int, message: int, cancel_ns: int, cancel_events: int) -> None:
        self.number, self.message = number, message
        self.cancel_ns, self.cancel_events = cancel_ns, cancel_events
        self.intended_ns = self.sent_ns = self.first_byte_ns = self.end_ns = 0
        self.connection = NOBODY
        self.status = self.attempts = 0
        self.fault = Fault.NONE
        self.event_stream = False
        self.state = NEW
        self.body = b""
        self.piece_ns: list[int] = []
        self.piece_end: list[int] = []


def request_rows(requests: Sequence[PlainRequest]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint8]]:
    """Requests as `Exchanges` has them: rows, pieces of their answers, and bodies one after the other."""
    rows = np.zeros(len(requests), ROW)
    pieces, body = 0, 0
    for row, made in zip(rows, requests, strict=True):
        for field in ("intended_ns", "sent_ns", "first_byte_ns", "end_ns", "connection", "message", "status"):
            row[field] = getattr(made, field)
        row["fault"], row["attempts"] = made.fault, min(made.attempts, 255)
        row["event_stream"], row["state"] = made.event_stream, made.state
        row["piece_start"], row["pieces"] = pieces, len(made.piece_ns)
        row["body_start"], row["body_bytes"] = body, len(made.body)
        pieces += len(made.piece_ns)
        body += len(made.body)
    found = np.zeros(pieces, PIECE)
    found["ns"] = [ns for made in requests for ns in made.piece_ns]
    found["body_end"] = [end for made in requests for end in made.piece_end]
    return rows, found, np.frombuffer(b"".join(made.body for made in requests), np.uint8)
