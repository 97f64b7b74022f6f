from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from assay.record.writing.strict_json import encode
from assay.untrusted.written import Written


@dataclass(frozen=True)
class Fingerprint:
    """What must be equal for two records to be comparable. Each part is kept, so that a difference can be named."""

    entry: str
    params: str
    """Digest of the parameters that decide the work."""
    workload: str
    """Version of the work: what the program says it is, otherwise a digest of the script."""
    machine: str
    """Class of machine: processor, cores, memory, accelerators."""

    @property
    def key(self) -> str:
        return digest(asdict(self))

    def differences(self, other: Fingerprint) -> list[str]:
        mine, theirs = asdict(self), asdict(other)
        return [f"{part}: {mine[part]} against {theirs[part]}" for part in mine if mine[part] != theirs[part]]

    def to_json(self) -> dict[str, str]:
        return {**asdict(self), "key": self.key}

    @classmethod
    def from_json(cls, written: Written) -> Fingerprint:
        return cls(**{part: written.text(part, "") for part in ("entry", "params", "workload", "machine")})


def digest(value: Any) -> str:
    """Twelve hexadecimal digits of the value's canonical JSON."""
    canonical = encode(_sort(value))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def _sort(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _sort(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_sort(item) for item in value]
    return value
