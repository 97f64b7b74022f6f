from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.benchmarks.weight_probes.machine import Machine
from assay.errors import UsageError
from assay.names import unknown

PREFIXES = ("ASSAY_", "CORAL_")
"""The first that is set wins; the second keeps scripts written for the older store working."""

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
STORE_SETTINGS = {
    "small": "small",
    "balanced": "balanced",
    "fast": "fast",
    "gzip": "small",
    "lzf": "fast",
    "none": "fast",
}
"""The codec names of HDF5, which the older store took, stand for the setting at the same place on the curve."""
_FLAGS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _whole(variable: str, value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise UsageError(f"{variable}={value}: give a whole number of at least 1")
    return int(value)


def _flag(variable: str, value: str) -> bool:
    if value.lower() not in _FLAGS:
        raise UsageError(f"{variable}={value}: give true or false")
    return _FLAGS[value.lower()]


def _choice(allowed: tuple[str, ...], variable: str, value: str) -> str:
    known = {word.lower(): word for word in allowed}
    if value.lower() not in known:
        raise UsageError(f"{variable}: {unknown('value', value, allowed)}")
    return known[value.lower()]


def _folder(variable: str, value: str) -> Path:
    path = Path(value)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{variable}={value}: cannot make this folder: {error.strerror}") from None
    return path


VARIABLES: Mapping[str, tuple[str, Callable[[str, str], Any]]] = {
    "workers": ("BENCHMARK_WORKERS", _whole),
    "memory_limit_mb": ("BENCHMARK_MEMORY_LIMIT", _whole),
    "temp_dir": ("BENCHMARK_TEMP_DIR", _folder),
    "log_level": ("BENCHMARK_LOG_LEVEL", partial(_choice, LOG_LEVELS)),
    "io_intensive": ("BENCHMARK_IO_INTENSIVE", _flag),
    "storage_compression": ("STORAGE_COMPRESSION", partial(_choice, tuple(STORE_SETTINGS))),
    "enable_simd": ("ENABLE_SIMD", _flag),
    "use_mmap": ("USE_MMAP", _flag),
    "enable_streaming": ("ENABLE_STREAMING", _flag),
    "debug": ("DEBUG", _flag),
}
"""Field → variable without its prefix, and what makes a value of its text."""


@dataclass(frozen=True)
class SuiteSettings:
    """The ten environment variables of the weight suites; docs/weight-suites.md says what each changes."""

    workers: int = 2
    memory_limit_mb: int | None = None
    temp_dir: Path | None = None
    log_level: str = "WARNING"
    io_intensive: bool = False
    storage_compression: str | None = None
    enable_simd: bool = True
    use_mmap: bool = True
    enable_streaming: bool | None = None
    debug: bool = False

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> SuiteSettings:
        read: dict[str, Any] = {}
        for field, (variable, parse) in VARIABLES.items():
            names = [prefix + variable for prefix in PREFIXES]
            if name := next((name for name in names if environ.get(name, "").strip()), None):
                read[field] = parse(name, environ[name].strip())
        level = "DEBUG" if read.get("debug") else "WARNING"
        return cls(**{"workers": len(os.sched_getaffinity(0)), "log_level": level, **read})

    @property
    def setting(self) -> str:
        return STORE_SETTINGS[self.storage_compression] if self.storage_compression else "balanced"

    def export(self) -> dict[str, str]:
        """The environment of a child process that must measure under the same settings."""
        values = {variable: getattr(self, field) for field, (variable, _) in VARIABLES.items()}
        return {f"{PREFIXES[0]}{name}": str(value) for name, value in values.items() if value is not None}

    def without_simd(self) -> dict[str, str]:
        """What numba must find in the environment before it is first imported to compile without vector code."""
        if self.enable_simd:
            return {}
        return {"NUMBA_CPU_NAME": "generic", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}


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
