from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from assay.config.entry_name import ProgramLimits
from assay.config.merge_configs import merge
from assay.config.placeholders import Datasets, render
from assay.document.yaml_node import YamlNode

if TYPE_CHECKING:
    from assay.config.service_config import ReadyConfig, ServiceMetricsConfig


ADDRESS = ("port", "service_url")
"""Placeholders of an entry with a service, known only when a run starts."""


@dataclass(frozen=True)
class Service:
    """A server of an entry: what a run does not decide is resolved."""

    command: tuple[str, ...]
    """One argument each; its port and folders that a run makes are still placeholders."""
    url: str
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    ready: ReadyConfig | None = None
    """None: when the port of its address takes connections."""
    ready_command: tuple[str, ...] = ()
    ready_timeout_s: float = 300.0
    stop_timeout_s: float = 10.0
    restart: Literal["always", "never"] = "always"
    metrics: ServiceMetricsConfig | None = None
    limits: ProgramLimits = ProgramLimits()
    gpus: tuple[int, ...] | None = None

    @property
    def needs_port(self) -> bool:
        """A free port is looked for."""
        words = [self.url, *self.command, *self.env.values(), *self.ready_command]
        if self.ready is not None:
            words += [str(self.ready.http), str(self.ready.tcp)]
        return any("{port}" in word for word in words)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides its speed: part of the fingerprint of a run."""
        command = [word.replace(sys.executable, "python") for word in self.command]
        return {"command": command, "env": dict(self.env), "cpus": self.limits.cpus, "restart": self.restart}

    def at(self, values: Mapping[str, str]) -> Service:
        """The service of one run, in which every placeholder has its value."""

        def fill(text: str) -> str:
            return render(text, values, Datasets({}))

        ready, metrics = self.ready, self.metrics
        if ready is not None:
            http = None if ready.http is None else fill(ready.http)
            tcp = None if ready.tcp is None else fill(str(ready.tcp))
            ready = ready.model_copy(update={"http": http, "tcp": tcp})
        if metrics is not None:
            metrics = metrics.model_copy(update={"path": fill(metrics.path)})
        return replace(
            self,
            command=tuple(map(fill, self.command)),
            url=fill(self.url),
            env={name: fill(value) for name, value in self.env.items()},
            cwd=None if self.cwd is None else fill(self.cwd),
            ready=ready,
            ready_command=tuple(map(fill, self.ready_command)),
            metrics=metrics,
        )


def with_default_service(root: YamlNode) -> YamlNode:
    """The session's `service:` under that of every entry, before `matrix:` is expanded: a server's flags may vary.

    `service: null` in an entry has none. Data setups have none unless they say so.
    """
    entries, default = root.get("entries"), root.get("service")
    if entries is None or not entries.is_list:
        return root
    items = [_entry(item, default) for item in entries.value]
    return YamlNode({**root.value, "entries": YamlNode(items, entries.mark, entries.key)}, root.mark)


def _entry(entry: YamlNode, default: YamlNode | None) -> YamlNode:
    if not entry.is_mapping:
        return entry
    own = entry.get("service")
    if own is not None and own.value is None:
        children = {key: child for key, child in entry.value.items() if key != "service"}
    elif default is None:
        return entry
    else:
        children = {**entry.value, "service": default if own is None else _merge(default, own)}
    return YamlNode(children, entry.mark, entry.key, entry.anchored)


def _merge(default: YamlNode, own: YamlNode) -> YamlNode:
    """`ready:` says one way of several: the entry's own stands in place of the default's."""
    if default.is_mapping and own.is_mapping and "ready" in own.value:
        kept = {key: child for key, child in default.value.items() if key != "ready"}
        default = YamlNode(kept, default.mark, default.key, default.anchored)
    return merge(default, own)
