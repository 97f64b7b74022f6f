from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.untrusted.written import Written


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
