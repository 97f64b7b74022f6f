from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A key that a built-in sink takes from the configuration."""

    name: str
    help: str
    required: bool = False
    secret: bool = False


COMMON_KEYS = (
    Key("name", "of a built-in sink, or of one that an installed package registers under `assay.sinks`"),
    Key("class", "dotted path of a sink's class, for one that no package registers"),
    Key("enabled", "false: nothing else of this sink is looked at"),
    Key("delivery_timeout_s", "how long one delivery may take before it is stopped and tried again"),
)
