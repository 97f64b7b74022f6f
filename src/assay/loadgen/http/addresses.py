from __future__ import annotations

import socket
from typing import Any

from assay.loadgen.http.http_client import TargetUnreachable
from assay.loadgen.http.target import Target

Address = tuple[socket.AddressFamily, Any]
"""Family, and the address as its sockets take it."""


def resolve(target: Target) -> list[Address]:
    """Addresses of the target's host, looked up once: no name is resolved while the clock runs."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        why = error.strerror if isinstance(error, socket.gaierror) else str(error)
        raise TargetUnreachable(f"{target.url}: the host {target.host!r} is not known: {why}") from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))
