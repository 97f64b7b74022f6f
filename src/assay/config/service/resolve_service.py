from __future__ import annotations

import os
from collections.abc import Callable

from assay.config.entries.program import gpu_numbers, resolve_program
from assay.config.reading.placeholders import UnknownPlaceholder
from assay.config.service.service import Service
from assay.config.service.service_config import ReadyConfig, ServiceConfig

_NO_ADDRESS = (
    "service: says no address: put {port} (a free port) into its `command` or `env`, or give its `url`, "
    "such as http://127.0.0.1:8000"
)


def resolve_service(
    written: ServiceConfig, words: Callable[[str | list[str], str], list[str]], later: Callable[[str], str]
) -> Service:
    """`words` splits a command and fills it in, `later` fills in a text; both leave what only a run knows.

    Raises UnknownPlaceholder, for the entry to fail with.
    """
    if written.command is None:
        raise UnknownPlaceholder("service: command is missing: what starts the server")
    command = words(written.command, "service.command")
    ready, metrics = written.ready, written.metrics
    service = Service(
        command=(*resolve_program(command[:1]), *command[1:]),
        url=later(written.url).rstrip("/"),
        env={name: later(value) for name, value in written.env.items()},
        cwd=None if written.cwd is None else os.path.expanduser(later(written.cwd)),
        ready=None if ready is None else _later_ready(ready, later),
        ready_command=tuple(words(ready.command, "service.ready.command")) if ready and ready.command else (),
        ready_timeout_s=written.ready_timeout_s,
        stop_timeout_s=written.stop_timeout_s,
        restart=written.restart,
        metrics=None if metrics is None else metrics.model_copy(update={"path": later(metrics.path)}),
        limits=written.limits.resolve(),
        gpus=gpu_numbers(written.gpus),
    )
    if "url" not in written.model_fields_set and not _mentions_port(service):
        raise UnknownPlaceholder(_NO_ADDRESS)
    return service


def _later_ready(ready: ReadyConfig, later: Callable[[str], str]) -> ReadyConfig:
    http = None if ready.http is None else later(ready.http)
    tcp = None if ready.tcp is None else later(str(ready.tcp))
    return ready.model_copy(update={"http": http, "tcp": tcp})


def _mentions_port(service: Service) -> bool:
    return any("{port}" in word for word in (*service.command, *service.env.values()))
