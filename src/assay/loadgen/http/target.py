from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from assay.errors import UsageError

if TYPE_CHECKING:
    import ssl

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})
_SHORTEST_SECRET = 6


@dataclass(frozen=True)
class Target:
    """The service under load: where it listens and what every request to it says.

    `headers` hold the API key. They are never shown and never saved.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    """Path of the URL without a slash at its end: requests go to `path` and what follows it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool = True
    """TLS: is the server's certificate checked?"""
    ca_file: str | None = None

    @classmethod
    def parse(
        cls, url: str, headers: Mapping[str, str] | None = None, verify: bool = True, ca_file: str | None = None
    ) -> Target:
        parts = _split(url)
        for name, value in (headers or {}).items():
            _check_header(name, value)
        return cls(
            scheme=parts.scheme,
            host=parts.hostname or "",
            port=parts.port or _PORTS[parts.scheme],
            path=parts.path.rstrip("/"),
            headers=dict(headers or {}),
            verify=verify,
            ca_file=ca_file,
        )

    @property
    def secure(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as in a URL and in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    def secrets(self) -> tuple[bytes, ...]:
        """Values of headers that must not reach a file: whole, and without a word such as `Bearer` before them."""
        values = [value for name, value in self.headers.items() if name.lower() in _SECRET_HEADERS]
        words = [word for value in values for word in (value, value.partition(" ")[2])]
        return tuple(word.encode() for word in words if len(word) >= _SHORTEST_SECRET)

    def message(
        self,
        path: str,
        body: bytes = b"",
        method: str = "POST",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """A whole request as the bytes that are sent. `path` follows the path of the target."""
        where = self.path + path or "/"
        if not where.isascii() or any(char in where for char in " \r\n\0"):
            raise UsageError(f"{where!r} cannot be the path of a request: encode it as in a URL (%20 for a space)")
        for name, value in (headers or {}).items():
            _check_header(name, value)
        lines = {
            "Host": self.authority,
            "User-Agent": "assay",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            **({"Content-Type": content_type, "Content-Length": str(len(body))} if body or method == "POST" else {}),
            **self.headers,
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {where} HTTP/1.1\r\n{head}\r\n".encode() + body

    def tls(self) -> ssl.SSLContext | None:
        if not self.secure:
            return None
        import ssl  # only TLS pays for it

        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"{self.ca_file}: no certificates can be read from it: {error}") from None
        context.set_alpn_protocols(["http/1.1"])
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{url!r} is not a URL: {error}") from None
    if parts.scheme not in _PORTS:
        raise UsageError(f"{url!r}: a URL that begins with http:// or https:// is needed")
    if not parts.hostname or port == 0:
        raise UsageError(f"{url!r} names no host" if not parts.hostname else f"{url!r}: there is no port 0")
    if parts.username is not None or parts.password is not None:
        raise UsageError("a URL with a user name or password in it is not taken: give the key in a variable instead")
    if parts.query or parts.fragment:
        raise UsageError(f"{url!r}: a target has no ? or # part; parameters belong to the requests")
    return parts


def _check_header(name: str, value: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of a header")
    if any(char in value for char in "\r\n\0") or not value.isascii():
        raise UsageError(f"the value of the header {name} has characters that a header cannot hold")
