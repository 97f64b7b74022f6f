from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.untrusted.written import Written


@dataclass(frozen=True)
class PythonEnvironment:
    """Which Python a program ran with, and what is installed there."""

    interpreter: str
    """The interpreter's path, as it was started."""
    python: str
    """Version."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Name → version of those that decide the numbers; all of them are in the run's artifacts/pip-freeze.txt."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "packages": dict(self.packages)}

    @classmethod
    def from_json(cls, written: Written) -> PythonEnvironment:
        return cls(written.text("interpreter", ""), written.text("python", ""), written.text_mapping("packages"))
