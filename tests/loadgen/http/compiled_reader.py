from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int16, c_size_t, c_uint8, c_void_p

from assay.native.library import declare, library


class _Start(ctypes.Structure):
    """The first fields of `struct response`."""

    _fields_ = (
        ("state", c_uint8),
        ("no_body", c_uint8),
        ("chunked", c_uint8),
        ("event_stream", c_uint8),
        ("keep_alive", c_uint8),
        ("has_length", c_uint8),
        ("status", c_int16),
    )


class CompiledReader:
    """The response reader of the compiled client by itself, as `ResponseReader` is: for tests of the two."""

    def __init__(self, no_body: bool = False) -> None:
        loaded = library()
        assert loaded is not None
        declare(
            loaded,
            {
                "response_size": (c_size_t, ()),
                "response_begin": (None, (c_void_p, c_int)),
                "response_feed": (c_size_t, (c_void_p, c_char_p, c_size_t, c_char_p, POINTER(c_size_t))),
                "response_closed": (None, (c_void_p,)),
            },
        )
        self._library = loaded
        self._memory = ctypes.create_string_buffer(loaded.response_size())
        self._start = _Start.from_buffer(self._memory)
        self.body = b""
        loaded.response_begin(self._memory, no_body)

    def feed(self, data: bytes) -> int:
        body, count = ctypes.create_string_buffer(len(data) + 1), c_size_t(0)
        taken: int = self._library.response_feed(self._memory, data, len(data), body, ctypes.byref(count))
        self.body += body.raw[: count.value]
        return taken

    def feed_end(self) -> None:
        self._library.response_closed(self._memory)

    @property
    def state(self) -> int:
        return int(self._start.state)

    @property
    def status(self) -> int:
        return int(self._start.status)

    @property
    def keep_alive(self) -> bool:
        return bool(self._start.keep_alive)

    @property
    def event_stream(self) -> bool:
        return bool(self._start.event_stream)
