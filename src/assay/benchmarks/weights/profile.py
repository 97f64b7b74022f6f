from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import resources
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.profile_fields import checked
from assay.errors import ConfigError, UsageError


@dataclass(frozen=True)
class Profile:
    """How much is measured, as a file of `profiles/`, a user's own file or a mapping says."""

    name: str = "custom"
    description: str = ""
    suites: tuple[str, ...] = ("compression", "performance", "clustering", "scalability", "memory", "accuracy")
    iterations: int = 3
    models: tuple[str, ...] = ("small",)
    timeout: float = 1200.0
    """Seconds for all suites together: what has not begun by then is not run, and the result says so."""
    budget_s: float | None = None
    """Seconds aimed at, which bounds repetitions and optional sizes; without one, the time limit."""
    dtypes: tuple[str, ...] = ("float32", "bfloat16")
    versions: int = 4
    stores: tuple[str, ...] = ()
    """Empty: our store, at the setting that ASSAY_STORAGE_COMPRESSION names."""

    @property
    def seconds(self) -> float:
        return min(self.budget_s or self.timeout, self.timeout)


class BenchmarkProfile(Enum):
    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"
    COMPREHENSIVE = "comprehensive"
    CUSTOM = "custom"

    def load(self, custom_config: Mapping[str, Any] | None = None) -> Profile:
        """`custom_config` belongs to CUSTOM: its `suites`, `iterations`, `models` and `timeout`."""
        if self is not BenchmarkProfile.CUSTOM:
            if custom_config is not None:
                raise UsageError(f"custom_config goes with BenchmarkProfile.CUSTOM, not with {self.name}")
            file = resources.files("assay.benchmarks.weights") / "profiles" / f"{self.value}.yaml"
            return Profile(**checked(file.read_text(), f"profiles/{self.value}.yaml"))
        if custom_config is None:
            raise UsageError("BenchmarkProfile.CUSTOM needs custom_config: suites, iterations, models, timeout")
        return Profile(**checked(custom_config, "custom_config"))


def load_profile(name_or_file: str) -> Profile:
    """What `--profile` takes: one of the four names, or a YAML file."""
    names = [kind.value for kind in BenchmarkProfile if kind is not BenchmarkProfile.CUSTOM]
    if name_or_file in names:
        return BenchmarkProfile(name_or_file).load()
    path = Path(name_or_file)
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise UsageError(f"--profile {name_or_file}: neither {', '.join(names)} nor a file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from None
    return Profile(**{"name": path.stem, **checked(text, str(path))})
