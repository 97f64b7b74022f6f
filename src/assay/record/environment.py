from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from assay.files.checked_fields import Written
from assay.files.json_text import encode


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


@dataclass(frozen=True)
class Environment:
    """What a session ran on, captured once."""

    host: str = ""
    os: str = ""
    kernel: str = ""
    cpu_model: str = ""
    cores: int = 0
    memory_mb: int = 0
    python: str = ""
    interpreter: str | None = None
    """Whose version and packages these are, where the session's entries have another Python than Assay's."""
    assay: str = ""
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    container_image: str | None = None
    gpus: tuple[str, ...] = ()
    gpu_driver: str | None = None
    """Version of the NVIDIA driver; None: there is none."""
    cuda: str | None = None
    """The newest version of CUDA that the driver runs; None where NVML cannot be asked."""
    packages: dict[str, str] = field(default_factory=dict)
    reason: str | None = None
    user: str | None = None

    @property
    def machine_class(self) -> str:
        """Two machines of one class give comparable numbers: same processor, cores, memory (in GB) and GPUs."""
        gpus = "+".join(self.gpus) or "no GPU"
        return f"{self.cpu_model}, {self.cores} cores, {round(self.memory_mb / 1024)} GB, {gpus}"

    @property
    def described(self) -> str:
        """The machine in words, as far as it is known: files of other tools say little of it."""
        machine = self.machine_class if self.cpu_model or self.cores else ""
        return ": ".join(words for words in (self.host, machine) if words) or "machine not known"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "gpus": list(self.gpus), "machine_class": self.machine_class}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Environment:
        written = Written(values)
        return cls(
            host=written.text("host", ""),
            os=written.text("os", ""),
            kernel=written.text("kernel", ""),
            cpu_model=written.text("cpu_model", ""),
            cores=written.whole("cores", 0),
            memory_mb=written.whole("memory_mb", 0),
            python=written.text("python", ""),
            interpreter=written.text_or_none("interpreter"),
            assay=written.text("assay", ""),
            git_commit=written.text_or_none("git_commit"),
            git_branch=written.text_or_none("git_branch"),
            git_dirty=written.flag_or_none("git_dirty"),
            container_image=written.text_or_none("container_image"),
            gpus=written.texts("gpus"),
            gpu_driver=written.text_or_none("gpu_driver"),
            cuda=written.text_or_none("cuda"),
            packages=written.text_mapping("packages"),
            reason=written.text_or_none("reason"),
            user=written.text_or_none("user"),
        )


@dataclass(frozen=True)
class Fingerprint:
    """Which series a record belongs to: what must be equal for two records to be comparable. Everything else (commit,
    script, packages, load) is context. Each part is kept, so that a difference can be named."""

    entry: str
    params: str
    """Digest of the parameters that decide the work."""
    workload: str
    """`version 2`, if the author versions the work with `workload_version`; empty otherwise."""
    machine: str
    """Class of machine: processor, cores, memory, accelerators."""
    project: str = ""

    @property
    def key(self) -> str:
        return digest({name: part for name, part in asdict(self).items() if part or name != "project"})

    def key_with_script(self, script: str) -> str:
        """The key that versions before 0.2 gave a record without a `workload_version`: the script was part of it."""
        return self.key if self.workload else replace(self, workload=f"script {script}").key

    def differences(self, other: Fingerprint) -> list[str]:
        mine, theirs = asdict(self), asdict(other)
        return [f"{part}: {mine[part]} against {theirs[part]}" for part in mine if mine[part] != theirs[part]]

    def to_json(self) -> dict[str, str]:
        return {**asdict(self), "key": self.key}

    @classmethod
    def from_json(cls, written: Written) -> Fingerprint:
        parts = {name: written.text(name, "") for name in ("entry", "params", "workload", "machine", "project")}
        return cls(**{**parts, "workload": split_workload(parts["workload"])[0]})


_DIGEST = re.compile(r"(?:script )?([0-9a-f]{12})|script unreadable|command [0-9a-f]{12}")


def split_workload(written: str) -> tuple[str, str]:
    """Version of the work, and digest of the script: older records have either of them in one field."""
    found = _DIGEST.fullmatch(written)
    return (written, "") if found is None else ("", found[1] or "")


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
