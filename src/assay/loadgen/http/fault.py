from __future__ import annotations

from enum import IntEnum


class Fault(IntEnum):
    """What went wrong with one request. The numbers stand in saved files and in `c/http/fault.h`."""

    NONE = 0
    REFUSED = 1
    RESET = 2
    CLOSED = 3
    CONNECT_TIMEOUT = 4
    IDLE_TIMEOUT = 5
    TOTAL_TIMEOUT = 6
    STATUS_3XX = 7
    STATUS_4XX = 8
    STATUS_5XX = 9
    CUT = 10
    MALFORMED = 11
    TOO_LARGE = 12
    TLS = 13
    CANCELLED = 14
    UNFINISHED = 15
    NEVER_SENT = 16

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]

    @property
    def wrong(self) -> bool:
        """Is it an error? A request that was cancelled as planned is not."""
        return self not in (Fault.NONE, Fault.CANCELLED)


_SENTENCES = {
    Fault.NONE: "answered",
    Fault.REFUSED: "the connection was refused or could not be made",
    Fault.RESET: "the connection was reset",
    Fault.CLOSED: "the server closed the connection without an answer",
    Fault.CONNECT_TIMEOUT: "no connection within the time limit",
    Fault.IDLE_TIMEOUT: "the server sent nothing for longer than the time limit",
    Fault.TOTAL_TIMEOUT: "the answer was not complete within the time limit",
    Fault.STATUS_3XX: "the server answered with a redirection, which is not followed",
    Fault.STATUS_4XX: "the server answered that the request is wrong (4xx)",
    Fault.STATUS_5XX: "the server answered that it failed (5xx)",
    Fault.CUT: "the answer was cut off before its end",
    Fault.MALFORMED: "the answer is not HTTP/1.1 as it should be",
    Fault.TOO_LARGE: "the answer is larger than the limit",
    Fault.TLS: "TLS failed",
    Fault.CANCELLED: "cancelled as planned",
    Fault.UNFINISHED: "not answered when the run ended",
    Fault.NEVER_SENT: "due, but not sent before the run ended",
}


def fault_of_status(status: int) -> Fault:
    if status >= 500:
        return Fault.STATUS_5XX
    if status >= 400:
        return Fault.STATUS_4XX
    return Fault.STATUS_3XX if status >= 300 else Fault.NONE
