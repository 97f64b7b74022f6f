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
    memory, disk = machine.available_mb / 1000, machine.free_disk_mb / 1000
    return SystemRequirements(
        (
            SystemRequirement(
                "Python", f"{python[0]}.{python[1]}", "3.11", "3.11", python >= (3, 11), python >= (3, 11)
            ),
            SystemRequirement("memory", f"{memory:.1f} GB free", "1 GB", "8 GB", memory >= 1, memory >= 8),
            SystemRequirement("disk", f"{disk:.1f} GB free", "2 GB", "20 GB", disk >= 2, disk >= 20),
            SystemRequirement("cores", str(machine.cores), "1", "4", machine.cores >= 1, machine.cores >= 4),
            SystemRequirement(
                "libraries",
                f"missing: {', '.join(absent)}" if absent else "all there",
                "assay-bench[weights]",
                "assay-bench[weights]",
                not absent,
                not absent,
            ),
        )
    )
