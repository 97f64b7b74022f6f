from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.orchestration.settings import Settings
from assay.benchmarks.weights.probes.machine import Machine
from assay.benchmarks.weights.scenarios.budget import Budget
from assay.benchmarks.weights.scenarios.model_size import ModelSize, model_size


@dataclass(frozen=True)
class ScenarioConfig(Mapping[str, Any]):
    """What a scenario is run with. Also readable as a mapping (`config["iterations"]`), as own suites expect it."""

    iterations: int = 3
    models: tuple[str, ...] = ("small",)
    timeout: float = 600.0
    dtypes: tuple[str, ...] = ("float32", "bfloat16")
    versions: int = 4
    stores: tuple[str, ...] = ("assay-balanced",)
    seed: int = 0
    strict: bool = False
    settings: Settings = field(default_factory=Settings)
    machine: Machine = field(default_factory=Machine)
    budget: Budget = field(default_factory=lambda: Budget(600.0))

    @property
    def sizes(self) -> list[ModelSize]:
        return sorted((model_size(name) for name in self.models), key=lambda size: size.parameters)

    @property
    def smallest(self) -> ModelSize:
        return self.sizes[0]

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="assay-weights-", dir=self.settings.temp_dir) as folder:
            yield Path(folder)

    def too_big(self, held_bytes: int) -> str | None:
        """Why something that holds this much in memory is not tried, or None."""
        limit = self.machine.available_mb
        if self.settings.memory_limit_mb is not None:
            limit = min(limit, self.settings.memory_limit_mb)
        needed = held_bytes / 1e6
        return None if needed <= limit else f"needs {needed:,.0f} MB of memory, {limit:,.0f} MB may be used"

    def __getitem__(self, key: str) -> Any:
        if key not in self.__dataclass_fields__:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return (item.name for item in fields(self))

    def __len__(self) -> int:
        return len(fields(self))
