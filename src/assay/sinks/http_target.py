from __future__ import annotations

import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import NoReturn
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.sinks.failure import Rejected, Unavailable


@dataclass(frozen=True)
class HttpTarget:
    """A service spoken to over HTTP, its answers told apart: done, later, or never."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 25.0

    def send(self, method: str, path: str = "", body: bytes | None = None, **headers: str) -> bytes:
        address, credentials = _without_password(self.url.rstrip("/") + path)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(
            address, data=body, method=method, headers={**credentials, **self.headers, **named}
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
                return bytes(response.read())
        except urllib.error.HTTPError as error:
            told = error.read(2000).decode(errors="replace").strip()
            refused(error.code, told, error.headers.get("Retry-After"))
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise Unavailable(f"{_host(address)}: {reason or type(error).__name__}") from None


def refused(status: int, told: str, retry_after: str | None = None) -> NoReturn:
    """What a status says about trying again: 408, 425, 429 and 5xx pass, wrong credentials or addresses can be put
    right by people, any other 4xx is about the message itself."""
    words = f"answered {status}: {' '.join(told.split())[:300]}"
    if status in (408, 425, 429) or status >= 500:
        raise Unavailable(words, _seconds(retry_after))
    if status in (301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 407):
        raise Unavailable(words)
    raise Rejected(words)


def _seconds(retry_after: str | None) -> float | None:
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None


def _host(address: str) -> str:
    return urlsplit(address).netloc.rpartition("@")[2]


def _without_password(address: str) -> tuple[str, dict[str, str]]:
    """`http://user:password@host` as a header: urllib does not understand it in an address."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, {}
    return urlunsplit(parts._replace(netloc=host)), {
        "Authorization": f"Basic {b64encode(unquote(user).encode()).decode()}"
    }
