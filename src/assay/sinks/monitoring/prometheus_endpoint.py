from __future__ import annotations

import json
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.sinks.failure import SinkFailure, Unavailable
from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.push_gateway import PushGateway
from assay.sinks.monitoring.remote_write import RemoteWrite

KINDS = ("pushgateway", "remote_write")


def prometheus_backend(target: HttpTarget, kind: str | None = None, job: str = "assay") -> PushGateway | RemoteWrite:
    """What stands at an address: as named by `kind` or by the address' path, otherwise by asking it."""
    parts = urlsplit(target.url)
    if "/metrics/job/" in parts.path:
        base, _, named = parts.path.partition("/metrics/job/")
        bare = HttpTarget(urlunsplit(parts._replace(path=base)), target.headers, target.timeout_s)
        return PushGateway(bare, unquote(named.split("/")[0]) or job)
    if parts.path.rstrip("/").endswith(("/write", "/push")):
        return RemoteWrite(target, "", job)
    kind = kind or _ask(target)
    return PushGateway(target, job) if kind == "pushgateway" else RemoteWrite(target, "/api/v1/write", job)


def _ask(target: HttpTarget) -> str:
    """Both answer under /api/v1/status…: the gateway lists its build there, Prometheus has it one level below."""
    for path, kind in (("/api/v1/status/buildinfo", "remote_write"), ("/api/v1/status", "pushgateway")):
        try:
            answered = json.loads(target.send("GET", path))
        except ValueError:
            continue
        except SinkFailure as failure:
            if failure.status is not None and 400 <= failure.status < 500:
                continue
            raise
        if isinstance(answered, dict) and answered.get("status") == "success":
            return kind
    raise Unavailable(f"{target.url} is neither a Prometheus server nor a push gateway; say which with `kind:`")
