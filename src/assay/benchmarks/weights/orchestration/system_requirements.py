from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec

from assay.benchmarks.weights.probes.machine import Machine

NEEDED = ("numpy", "numba", "zstandard", "ml_dtypes", "safetensors")


@dataclass(frozen=True)
class SystemRequirement:
    name: str
    found: str
    minimum: str
    recommended: str
    met: bool
    comfortable: bool

    def __str__(self) -> str:
        verdict = "ok" if self.comfortable else "enough" if self.met else "TOO LITTLE"
        return f"{self.name}: {self.found} (at least {self.minimum}, better {self.recommended}): {verdict}"


@dataclass(frozen=True)
class SystemRequirements:
    requirements: tuple[SystemRequirement, ...]

    @property
    def met(self) -> bool:
        return all(requirement.met for requirement in self.requirements)

    def __bool__(self) -> bool:
        return self.met

    def __str__(self) -> str:
        return "\n".join(str(requirement) for requirement in self.requirements)


def check_system(machine: Machine) -> SystemRequirements:
    python = sys.version_info[:2]
    absent = [name for name in NEEDED if find_spec(name) is None]
    libraries = f"missing: {', '.join(absent)}" if absent else "all there"
    return SystemRequirements(
        (
            _necessary("Python", f"{python[0]}.{python[1]}", "3.11", python >= (3, 11)),
            _gigabytes("memory", machine.available_mb / 1000, least=1, better=8),
            _gigabytes("disk", machine.free_disk_mb / 1000, least=2, better=20),
            SystemRequirement("cores", str(machine.cores), "1", "4", machine.cores >= 1, machine.cores >= 4),
            _necessary("libraries", libraries, "assay-bench[weights]", not absent),
        )
    )


def _necessary(name: str, found: str, wanted: str, met: bool) -> SystemRequirement:
    return SystemRequirement(name, found, wanted, wanted, met, met)


def _gigabytes(name: str, free: float, least: int, better: int) -> SystemRequirement:
    return SystemRequirement(name, f"{free:.1f} GB free", f"{least} GB", f"{better} GB", free >= least, free >= better)
