from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class SinkData:
    """What an entry says to a sink that sends messages to people."""

    additional_metrics: tuple[str, ...] = ()
    ping_on_failure: tuple[str, ...] = ()

    @classmethod
    def parse(cls, said: Mapping[str, Any]) -> SinkData:
        return cls(_names(said.get("additional_metrics")), _names(said.get("ping_on_failure")))


NOTHING = SinkData()
KEYS = tuple(field.name for field in fields(SinkData))


def select_sink_data(written: Any, sink: str) -> dict[str, Any]:
    """`sink_data` is a list of mappings with the sink's `name`, or a mapping by the sink's name."""
    if isinstance(written, Mapping):
        own = written.get(sink)
        return dict(own) if isinstance(own, Mapping) else {}
    if isinstance(written, list | tuple):
        named = [item for item in written if isinstance(item, Mapping) and item.get("name") == sink]
        return {key: value for item in named for key, value in item.items() if key != "name"}
    return {}


def _names(written: Any) -> tuple[str, ...]:
    if isinstance(written, str):
        return (written,)
    return tuple(map(str, written)) if isinstance(written, list | tuple) else ()
