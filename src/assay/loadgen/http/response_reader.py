"""An HTTP/1.1 response, cut by hand as its bytes come (RFC 9112, sections 4 to 7).

`c/http/response.c` does the same; tests feed both the same bytes, cut at every place.
"""

from __future__ import annotations

from enum import IntEnum

LONGEST_LINE = 8192
LONGEST_HEAD = 65536
LARGEST_LENGTH = 1 << 60


class State(IntEnum):
    """Where in a response the reader stands. The same numbers as in c/http/response.h."""

    STATUS = 0
    HEADERS = 1
    LENGTH_BODY = 2
    CHUNK_SIZE = 3
    CHUNK_BODY = 4
    CHUNK_END = 5
    TRAILERS = 6
    UNTIL_CLOSE = 7
    DONE = 8
    MALFORMED = 9


class ResponseReader:
    """Feed it bytes; it appends those of the body to `body`. Informational answers (1xx) before it are skipped."""

    __slots__ = (
        "_head",
        "_left",
        "_length",
        "_line",
        "_no_body",
        "_version",
        "body",
        "chunked",
        "event_stream",
        "keep_alive",
        "state",
        "status",
    )

    def __init__(self, no_body: bool = False) -> None:
        self._no_body = no_body
        self.body = bytearray()
        self._begin()

    def _begin(self) -> None:
        self.state = State.STATUS
        self.status = 0
        self.chunked = False
        self.event_stream = False
        self.keep_alive = True
        self._length: int | None = None
        self._version = 1
        self._line = bytearray()
        self._head = 0
        self._left = 0

    def feed(self, data: memoryview | bytes) -> int:
        """Takes bytes; returns how many belonged to this response: fewer than given when it ended or went wrong
        before."""
        data = memoryview(data)
        at, end = 0, len(data)
        while at < end and self.state < State.DONE:
            if self.state in (State.LENGTH_BODY, State.CHUNK_BODY):
                taken = min(self._left, end - at)
                self.body += data[at : at + taken]
                at += taken
                self._left -= taken
                if not self._left:
                    self.state = State.DONE if self.state == State.LENGTH_BODY else State.CHUNK_END
            elif self.state == State.UNTIL_CLOSE:
                self.body += data[at:]
                at = end
            else:
                at = self._feed_line(data, at)
        return at

    def feed_end(self) -> None:
        """Notes that the connection was closed: that ends a body whose length is not told, and cuts any other short."""
        if self.state == State.UNTIL_CLOSE:
            self.state = State.DONE

    def _feed_line(self, data: memoryview, at: int) -> int:
        found = bytes(data[at : at + LONGEST_LINE + 1]).find(b"\n")
        upto = at + found + 1 if found >= 0 else min(len(data), at + LONGEST_LINE + 1)
        self._line += data[at:upto]
        self._head += upto - at
        if len(self._line) > LONGEST_LINE or self._head > LONGEST_HEAD:
            self.state = State.MALFORMED
        elif found >= 0:
            line = bytes(self._line[:-2] if self._line.endswith(b"\r\n") else self._line[:-1])
            self._line.clear()
            if not self._take(line):
                self.state = State.MALFORMED
        return upto

    def _take(self, line: bytes) -> bool:
        if b"\0" in line or b"\r" in line:
            return False
        if self.state == State.STATUS:
            return self._take_status(line)
        if self.state == State.HEADERS:
            return self._take_header(line) if line else self._end_head()
        if self.state == State.CHUNK_SIZE:
            return self._take_chunk_size(line)
        if self.state == State.CHUNK_END:
            self.state = State.CHUNK_SIZE
            return not line
        if not line:
            self.state = State.DONE
        return True

    def _take_status(self, line: bytes) -> bool:
        if not line.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")) or len(line) < 12 or not line[9:12].isdigit():
            return False
        if len(line) > 12 and line[12:13] != b" ":
            return False
        self.status = int(line[9:12])
        self._version = line[7] - ord("0")
        self.keep_alive = self._version == 1
        self.state = State.HEADERS
        return 100 <= self.status < 600 and self.status != 101

    def _take_header(self, line: bytes) -> bool:
        name, colon, value = line.partition(b":")
        if not colon or not name or any(byte in b" \t" for byte in name):
            return False
        value = value.strip(b" \t")
        name, lower = name.lower(), value.lower()
        if name == b"content-length":
            if not value.isdigit() or len(value) > 18 or (self._length is not None and self._length != int(value)):
                return False
            self._length = int(value)
        elif name == b"transfer-encoding":
            if lower not in (b"chunked", b"identity") or (self.chunked and lower == b"identity"):
                return False
            self.chunked = lower == b"chunked"
        elif name == b"connection":
            words = [word.strip(b" \t") for word in lower.split(b",")]
            if b"close" in words:
                self.keep_alive = False
            elif b"keep-alive" in words:
                self.keep_alive = True
        elif name == b"content-type":
            self.event_stream = lower.startswith(b"text/event-stream")
        return True

    def _end_head(self) -> bool:
        self._head = 0
        if self.status < 200:
            no_body = self._no_body
            self._begin()
            self._no_body = no_body
        elif self._no_body or self.status in (204, 304):
            self.state = State.DONE
        elif self.chunked:
            self.state = State.CHUNK_SIZE
        elif self._length is not None:
            self._left = self._length
            self.state = State.LENGTH_BODY if self._length else State.DONE
        else:
            self.keep_alive = False
            self.state = State.UNTIL_CLOSE
        return True

    def _take_chunk_size(self, line: bytes) -> bool:
        size = line.partition(b";")[0].rstrip(b" \t")
        if not size or len(size) > 15 or any(byte not in b"0123456789abcdefABCDEF" for byte in size):
            return False
        self._left = int(size, 16)
        self._head = 0
        self.state = State.CHUNK_BODY if self._left else State.TRAILERS
        return True
