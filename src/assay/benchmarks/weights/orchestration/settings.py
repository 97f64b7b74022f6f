from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Settings:
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
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Settings:
        read = _Reader(os.environ if environ is None else environ)
        debug = read.flag("DEBUG")
        return cls(
            workers=read.whole("BENCHMARK_WORKERS") or max(1, len(os.sched_getaffinity(0))),
            memory_limit_mb=read.whole("BENCHMARK_MEMORY_LIMIT"),
            temp_dir=read.folder("BENCHMARK_TEMP_DIR"),
            log_level=read.choice("BENCHMARK_LOG_LEVEL", LOG_LEVELS) or ("DEBUG" if debug else "WARNING"),
            io_intensive=bool(read.flag("BENCHMARK_IO_INTENSIVE")),
            storage_compression=read.choice("STORAGE_COMPRESSION", tuple(STORE_SETTINGS)),
            enable_simd=read.flag("ENABLE_SIMD") is not False,
            use_mmap=read.flag("USE_MMAP") is not False,
            enable_streaming=read.flag("ENABLE_STREAMING"),
            debug=bool(debug),
        )

    @property
    def setting(self) -> str:
        return STORE_SETTINGS[self.storage_compression] if self.storage_compression else "balanced"

    def exported(self) -> dict[str, str]:
        """The environment of a child process that must measure under the same settings."""
        values: dict[str, object] = {
            "BENCHMARK_WORKERS": self.workers,
            "BENCHMARK_MEMORY_LIMIT": self.memory_limit_mb,
            "BENCHMARK_TEMP_DIR": self.temp_dir,
            "BENCHMARK_LOG_LEVEL": self.log_level,
            "BENCHMARK_IO_INTENSIVE": self.io_intensive,
            "STORAGE_COMPRESSION": self.storage_compression,
            "ENABLE_SIMD": self.enable_simd,
            "USE_MMAP": self.use_mmap,
            "ENABLE_STREAMING": self.enable_streaming,
            "DEBUG": self.debug,
        }
        child = {f"ASSAY_{name}": str(value).lower() for name, value in values.items() if value is not None}
        child["ASSAY_BENCHMARK_LOG_LEVEL"] = self.log_level
        if self.temp_dir is not None:
            child["ASSAY_BENCHMARK_TEMP_DIR"] = str(self.temp_dir)
        return child

    def without_simd(self) -> dict[str, str]:
        """What numba must find in the environment before it is first imported to compile without vector code."""
        if self.enable_simd:
            return {}
        return {"NUMBA_CPU_NAME": "generic", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ

    def text(self, name: str) -> tuple[str, str] | None:
        for prefix in PREFIXES:
            value = self.environ.get(prefix + name, "").strip()
            if value:
                return prefix + name, value
        return None

    def whole(self, name: str) -> int | None:
        found = self.text(name)
        if found is None:
            return None
        variable, value = found
        if not value.isdecimal() or int(value) < 1:
            raise UsageError(f"{variable}={value}: give a whole number of at least 1")
        return int(value)

    def flag(self, name: str) -> bool | None:
        found = self.text(name)
        if found is None:
            return None
        variable, value = found
        if value.lower() not in _TRUE + _FALSE:
            raise UsageError(f"{variable}={value}: give true or false")
        return value.lower() in _TRUE

    def choice(self, name: str, allowed: tuple[str, ...]) -> str | None:
        found = self.text(name)
        if found is None:
            return None
        variable, value = found
        known = {word.lower(): word for word in allowed}
        if value.lower() not in known:
            raise UsageError(f"{variable}: {unknown('value', value, allowed)}")
        return known[value.lower()]

    def folder(self, name: str) -> Path | None:
        found = self.text(name)
        if found is None:
            return None
        variable, value = found
        path = Path(value)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{variable}={value}: cannot make this folder: {error.strerror}") from None
        return path
