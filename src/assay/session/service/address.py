from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from assay.config.service.service import Service

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ServiceAddress:
    """Where one start of a service is reached."""

    url: str
    port: int | None
    """A free port that was found for it; None where its files name one."""

    @property
    def placeholders(self) -> dict[str, str]:
        return {"service_url": self.url, "port": str(self.port or self.endpoint[1] or "")}

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that tell the program where its service is."""
        host, port = self.endpoint
        return {"ASSAY_SERVICE_URL": self.url, "ASSAY_SERVICE_HOST": host, "ASSAY_SERVICE_PORT": str(port or "")}

    @property
    def endpoint(self) -> tuple[str, int | None]:
        """Host and port."""
        return endpoint_of(self.url)

    @property
    def passing(self) -> tuple[str, ...]:
        """Words that name this address and no other run's; none where it has a port of its own."""
        return () if self.port is None else (f":{self.port}",)

    def join(self, path: str) -> str:
        """A path below the address; a URL stays one."""
        return path if "://" in path else f"{self.url}{path}"


def endpoint_of(url: str) -> tuple[str, int | None]:
    """Host and port of a URL; no port where it names none that could be one."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.hostname or "127.0.0.1", port or _DEFAULT_PORTS.get(parts.scheme)


def find_address(service: Service, folders: dict[str, str]) -> ServiceAddress:
    """The address of a service. A free port is one that nobody has now: if another process takes it first, the start
    fails."""
    port = free_port() if service.needs_port else None
    values = {**folders, "port": str(port or ""), "service_url": ""}
    return ServiceAddress(service.at(values).url, port)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def answers(host: str, port: int, timeout_s: float = 1.0) -> bool:
    """Whether anybody takes connections there."""
    try:
        with socket.create_connection((host, port), timeout_s):
            return True
    except OSError:
        return False
