from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from assay.errors import UsageError

PORT = 8125
_SCHEMES = ("", "udp", "statsd", "http")


@dataclass(frozen=True)
class AgentAddress:
    """Where Datadog's agent listens for DogStatsD: `host:port`, `http://host:port` (its host and port are taken) or
    `unix:///path`."""

    host: str = "127.0.0.1"
    port: int = PORT
    socket_path: str | None = None

    @classmethod
    def parse(cls, endpoint: str) -> AgentAddress:
        if endpoint.startswith(("unix://", "/")):
            return cls(socket_path=endpoint.removeprefix("unix://"))
        try:
            parts = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
            port = parts.port
        except ValueError as error:
            raise _refusal(endpoint, str(error)) from None
        host = parts.hostname or ""
        if parts.scheme not in _SCHEMES or parts.path.strip("/") or host.startswith("api."):
            raise _refusal(endpoint, "that is no address of an agent; Datadog's own API is reached through one")
        return cls(host or "127.0.0.1", PORT if port is None else port)


def _refusal(endpoint: str, why: str) -> UsageError:
    return UsageError(
        f"datadog: endpoint {endpoint!r}: {why}; give host:port of the agent's DogStatsD, as 127.0.0.1:8125"
    )
