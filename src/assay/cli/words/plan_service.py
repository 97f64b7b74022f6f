from __future__ import annotations

import shlex

from assay.config.service.service import Service
from assay.record.secrecy.secrets import Masker


def service_lines(service: Service, masker: Masker) -> list[str]:
    """What `assay plan` says of an entry's service."""
    kept = "kept for all its runs" if service.restart == "never" else "started for each run"
    command = shlex.join(word.replace("{port}", "PORT") for word in masker.words(list(service.command)))
    lines = [f"  with a service, {kept}: {command}"]
    lines.append(
        f"    at {masker.text(service.url)}, ready when {_ready(service)}, within {service.ready_timeout_s:g} s"
    )
    if service.metrics is not None:
        lines.append(f"    {masker.text(service.metrics.path)} read every {service.metrics.interval_s:g} s")
    return [line.replace("{port}", "PORT") for line in lines]


def _ready(service: Service) -> str:
    ready = service.ready
    if ready is None:
        return "its port takes connections"
    if ready.http is not None:
        return f"{ready.http} answers"
    if ready.tcp is not None:
        return f"port {ready.tcp} takes connections"
    if ready.log is not None:
        return f"its output matches {ready.log}"
    return f"`{shlex.join(service.ready_command)}` succeeds"
