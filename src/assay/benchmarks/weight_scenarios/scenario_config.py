from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from assay.benchmarks.weight_probes.machine import Machine
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import Handle, store_kind
from assay.errors import UsageError
from assay.names import unknown


class ScenarioBudget:
    """The seconds a scenario may take. It bounds how often something is repeated, never what is measured once."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._start = clock()

    @property
    def spent(self) -> float:
        return self._clock() - self._start

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    def affords(self, seconds: float) -> bool:
        return seconds <= self.left

    def part(self, share: float) -> ScenarioBudget:
        """Budget of one of several steps: a share of what is left, counted from now."""
        return ScenarioBudget(max(0.0, self.left * share), self._clock)

    def rounds(self, most: int, least: int = 1) -> Iterator[int]:
        """Up to `most` rounds; after the first `least`, only while one like those before would still fit."""
        start = self._clock()
        for number in range(most):
            if number >= least and not self.affords((self._clock() - start) / number):
                return
            yield number


@dataclass(frozen=True)
class ModelSize:
    name: str
    parameters: int

    def nbytes(self, itemsize: int) -> int:
        return self.parameters * itemsize


SIZES = {
    size.name: size
    for size in (
        ModelSize("tiny", 100_000),
        ModelSize("small", 1_000_000),
        ModelSize("medium", 10_000_000),
        ModelSize("large", 100_000_000),
        ModelSize("extra-large", 1_000_000_000),
    )
}
"""`tiny` exists for tests and for the smallest point of a scaling fit; the other four are the range that the weight
suites have always had."""


def model_size(name: str) -> ModelSize:
    try:
        return SIZES[name.replace("_", "-")]
    except KeyError:
        raise UsageError(unknown("model size", name, SIZES)) from None


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
