"""Frames on the pipes between Assay and a supervisor: a length, then a marshalled value.

marshal because both ends are the same interpreter, started by us, and it needs no import; nothing that a
benchmark writes is ever read this way.
"""

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def send(descriptor: int, value: "Any") -> None:
    data = marshal.dumps(value)
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(descriptor, data) :]


def receive(descriptor: int) -> "Any":
    """None when the other end is closed."""
    size = _exactly(descriptor, 4)
    if size is None:
        return None
    data = _exactly(descriptor, int.from_bytes(size, "big"))
    return None if data is None else marshal.loads(data)


def _exactly(descriptor: int, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        part = os.read(descriptor, count - len(data))
        if not part:
            return None
        data += part
    return data
