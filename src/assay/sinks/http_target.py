from __future__ import annotations

import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from typing import NoReturn
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.sinks.sink import Rejected, Unavailable

_MOST_BYTES = 16 * 2**20
"""Most bytes of an answer: a receipt is short, and an endless answer is none."""


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
            with _opener().open(request, timeout=self.timeout_s) as response:
                answer = bytes(response.read(_MOST_BYTES + 1))
        except urllib.error.HTTPError as error:
            told = error.read(2000).decode(errors="replace").strip()
            raise_for_status(error.code, told, error.headers.get("Retry-After"))
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise Unavailable(f"{_host(address)}: {reason or type(error).__name__}") from None
        if len(answer) > _MOST_BYTES:
            raise Unavailable(f"{_host(address)}: answered with more than {_MOST_BYTES // 2**20} MB")
        return answer


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: urllib would turn a POST into a GET at the new address, and that page would pass for a
    receipt."""

    def redirect_request(self, *args: object, **more: object) -> None:
        return None


@cache
def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect())


def raise_for_status(status: int, told: str, retry_after: str | None = None) -> NoReturn:
    """What a status says about trying again: 408, 425, 429 and 5xx pass, wrong credentials or addresses can be put
    right by people, any other 4xx is about the message itself."""
    words = f"answered {status}: {' '.join(told.split())[:300]}"
    if status in (408, 425, 429) or status >= 500:
        raise Unavailable(words, parse_retry_after(retry_after), status)
    if status in (301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 407):
        raise Unavailable(words, status=status)
    raise Rejected(words, status)


def parse_retry_after(retry_after: str | None) -> float | None:
    """What `Retry-After` says, where that is a number; a date is not looked at."""
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
