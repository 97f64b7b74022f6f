from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.sinks.sink import COMMON_KEYS

BESIDE = "x-beside"
"""Key under which the folders are kept. No file can have it: `x-…` keys are the author's own and left out."""
_COMMON = frozenset({*(key.name for key in COMMON_KEYS), BESIDE})


@dataclass(frozen=True)
class SinkSpec:
    """What a configuration says of one sink."""

    name: str
    class_path: str | None = None
    enabled: bool = True
    delivery_timeout_s: float | None = None
    own: Mapping[str, Any] = field(default_factory=dict)
    """The keys that are the sink's alone."""
    beside: tuple[str, ...] = ()
    """Folders in which the module of a user's own sink is looked for first."""
    missing: tuple[str, ...] = ()
    """Environment variables that held a secret and are not set any more."""

    @classmethod
    def parse(cls, written: Mapping[str, Any]) -> SinkSpec:
        class_path = written.get("class")
        timeout = written.get("delivery_timeout_s")
        return cls(
            name=str(written.get("name") or class_path or "?"),
            class_path=None if class_path is None else str(class_path),
            enabled=written.get("enabled", True) is not False,
            delivery_timeout_s=None if timeout is None else float(timeout),
            own={key: value for key, value in written.items() if key not in _COMMON},
            beside=tuple(written.get(BESIDE, ())),
        )

    def to_json(self) -> dict[str, Any]:
        written: dict[str, Any] = {"name": self.name, "enabled": self.enabled, **self.own}
        if self.class_path is not None:
            written["class"] = self.class_path
        if self.delivery_timeout_s is not None:
            written["delivery_timeout_s"] = self.delivery_timeout_s
        if self.beside:
            written[BESIDE] = list(self.beside)
        return written
