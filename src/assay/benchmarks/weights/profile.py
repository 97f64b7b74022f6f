from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from enum import Enum
from importlib import resources
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assay.benchmarks.weight_scenarios.scenario_config import ModelSize, model_size
from assay.benchmarks.weights.stores import StoreKind, store_kind
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.compat.user_code import loading_user_code
from assay.document.validation import validate
from assay.document.yaml_file import parse_yaml, read_yaml
from assay.document.yaml_node import Mark, YamlNode
from assay.errors import AssayError, UsageError
from assay.names import Registry, look_in, unknown
from assay.weights.element_types import ELEMENT_TYPES

GROUP = "assay.weight_suites"
BUNDLED: Registry[BenchmarkSuite] = Registry(
    "suite",
    BenchmarkSuite,  # type: ignore[type-abstract]
    {
        "compression": "assay.benchmarks.weights.compression:CompressionSuite",
        "performance": "assay.benchmarks.weights.performance:PerformanceSuite",
        "clustering": "assay.benchmarks.weights.clustering:ClusteringSuite",
        "scalability": "assay.benchmarks.weights.scalability:ScalabilitySuite",
        "memory": "assay.benchmarks.weights.memory:MemorySuite",
        "accuracy": "assay.benchmarks.weights.accuracy:AccuracySuite",
    },
)


def load_suites() -> dict[str, BenchmarkSuite]:
    """The six bundled suites, then those of installed packages; one that does not load warns and is left out."""
    suites: dict[str, BenchmarkSuite] = {}
    for name in BUNDLED:
        bundled: Any = BUNDLED.find(name)
        suites[name] = bundled()
    for found in entry_points(group=GROUP):
        try:
            with loading_user_code():
                suite = found.load()()
            if not isinstance(suite, BenchmarkSuite):
                raise TypeError("it is no BenchmarkSuite")
            suites[found.name] = suite
        except Exception as error:  # noqa: BLE001  whatever another package raises on import
            warnings.warn(f"weight suite {found.name!r} ({found.value}) does not load: {error}", stacklevel=2)
    return suites


def own_suite(path: str) -> BenchmarkSuite:
    """One of the user's own by a dotted path, from the folder that Assay is started in or installed."""
    look_in(Path.cwd())
    found: Any = BUNDLED.find(path)
    try:
        with loading_user_code():
            made: BenchmarkSuite = found()
    except (TypeError, ValueError) as error:
        raise UsageError(f"suite {path} cannot be made: {error}") from None
    return made


FLOATS = tuple(name for name, kind in ELEMENT_TYPES.items() if kind.exponent and kind.lanes == 1 and kind.bits > 8)


def _named(find: Callable[[str], ModelSize | StoreKind]) -> BeforeValidator:
    """Takes the names that `find` knows, each as it is written in full."""

    def full_name(name: Any) -> str:
        try:
            return find(str(name)).name
        except AssayError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(full_name)


def _dtype(name: Any) -> Any:
    if name not in FLOATS:
        raise ValueError(unknown("dtype of models", name, FLOATS))
    return name


class Profile(BaseModel):
    """How much is measured, as a file of `profiles/`, a user's own file or a mapping says."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = "custom"
    """Name in tables; that of its file by default."""
    description: str = ""
    """One sentence for readers of the file."""
    suites: list[str] = Field(
        default=["compression", "performance", "clustering", "scalability", "memory", "accuracy"], min_length=1
    )
    """Which suites run, in this order."""
    iterations: int = Field(default=3, ge=1)
    """Repetitions at most."""
    models: list[Annotated[str, _named(model_size)]] = Field(default=["small"], min_length=1)
    """Sizes of models: `tiny`, `small`, `medium`, `large`, `extra-large`."""
    timeout: float = Field(default=1200.0, gt=0, allow_inf_nan=False)
    """Seconds for all suites together: what has not begun by then is not run, and the result says so."""
    budget_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Seconds aimed at, which bounds repetitions and optional sizes; without one, the time limit."""
    dtypes: list[Annotated[str, BeforeValidator(_dtype)]] = Field(default=["float32", "bfloat16"], min_length=1)
    """Element types of the models."""
    versions: int = Field(default=4, ge=2)
    """Versions in a chain."""
    stores: list[Annotated[str, _named(store_kind)]] = []
    """Which stores are measured. Empty: our store, at the setting that ASSAY_STORAGE_COMPRESSION names."""
    checkpoints: list[str] = []
    """Files of the user's own that were measured in place of made ones, as `--checkpoints` gave them."""

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
            return validate(Profile, parse_yaml(file.read_text(), f"profiles/{self.value}.yaml"))
        if custom_config is None:
            raise UsageError("BenchmarkProfile.CUSTOM needs custom_config: suites, iterations, models, timeout")
        return validate(Profile, YamlNode.of(dict(custom_config), Mark("custom_config", 1, 1)))


def load_profile(name_or_file: str) -> Profile:
    """What `--profile` takes: one of the four names, or a YAML file."""
    names = [kind.value for kind in BenchmarkProfile if kind is not BenchmarkProfile.CUSTOM]
    if name_or_file in names:
        return BenchmarkProfile(name_or_file).load()
    path = Path(name_or_file)
    if not path.exists():
        raise UsageError(f"--profile: {unknown('profile', name_or_file, names)}; nor is there such a file")
    profile = validate(Profile, read_yaml(path))
    return profile if "name" in profile.model_fields_set else profile.model_copy(update={"name": path.stem})
