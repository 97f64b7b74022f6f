from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import Handle, store_kind
from assay.benchmarks.weights.probes.machine import Machine
from assay.benchmarks.weights.scenarios.budget import ScenarioBudget
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
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    machine: Machine = field(default_factory=Machine)
    budget: ScenarioBudget = field(default_factory=lambda: ScenarioBudget(600.0))

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

    @contextmanager
    def open_store(self, store: str) -> Iterator[Handle]:
        """A new store in a folder that goes with it."""
        with self.scratch() as folder, Handle(store_kind(store, self.settings), folder / "store") as handle:
            yield handle

    def too_big(self, held_bytes: int) -> str | None:
        """Why something that holds this much in memory is not tried, or None."""
        limit = self.machine.available_mb
        if self.settings.memory_limit_mb is not None:
            limit = min(limit, self.settings.memory_limit_mb)
        needed = held_bytes / 1e6
        return None if needed <= limit else f"needs {needed:,.0f} MB of memory, {limit:,.0f} MB may be used"

    def too_long(self, seconds: float, allowed_s: float = 0.0) -> str | None:
        """Why something that takes this long is not tried, or None; `allowed_s` beyond the budget do not matter."""
        if self.budget.affords(seconds - allowed_s):
            return None
        return f"would take about {seconds:.0f} s, {max(0.0, self.budget.left):.0f} s are left"

    def __getitem__(self, key: str) -> Any:
        if key not in self.__dataclass_fields__:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return (item.name for item in fields(self))

    def __len__(self) -> int:
        return len(fields(self))
