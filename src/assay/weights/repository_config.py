"""The formats that repositories have had, and how each becomes the present one.

A format whose packs others could not read gives its packs another ending. So old and new packs stand beside each other
while a repository is rewritten, either version of Assay sees its own only, and `format` is the one file that switches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol

from assay.errors import ConfigError, UsageError
from assay.names import unknown
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.store import Tensor


class OldTensors(Protocol):
    """The packs of an older format, by the rules of that format."""

    def read(self, digest: bytes) -> Tensor: ...


@dataclass(frozen=True)
class Migration:
    """How a repository of one older format becomes one of the present format."""

    change: str
    """What the present format has that the older one has not, for a person."""
    ending: str = ".pack"
    """Ending of the older format's pack files."""
    open: Callable[[Path], OldTensors] | None = None
    """Given the folder of packs. None: the packs stay, since the present format reads them as they are."""


MIGRATIONS: Mapping[int, Migration] = {
    4: Migration("differences at fixed lengths"),
}
"""Migrations, by the older format's number. Formats 1 to 3 lived for some hours each before anything was released, and
changed what the bytes of a stream mean; no code reads them any more."""


def check_format(where: object, number: Any) -> None:
    """Raises for any format but the present one, and says what to do."""
    if number == FORMAT and type(number) is int:
        return
    if type(number) is int and number in MIGRATIONS:
        raise UsageError(
            f"{where} has format {number}, which an older version of Assay wrote; this one reads format {FORMAT}: "
            + (
                "migrate a copy of it in a folder, and push that elsewhere"
                if "://" in str(where)
                else f"assay weights migrate {where}"
            )
        )
    if type(number) is int and number > FORMAT:
        why = "a newer version of Assay wrote it: install that one"
    else:
        why = "nothing can bring it to that: export its versions with the Assay that wrote it, and import them"
    raise UsageError(f"{where} has format {number!r}; this version of Assay reads format {FORMAT}, and {why}")


SETTINGS = ("small", "balanced", "fast")
DELTA_ENCODINGS = (
    "AUTO",
    "FLOAT32_RAW",
    "COMPRESSED",
    "XOR",
    "SPARSE",
    "LOSSY_INT8_QUANTIZED",
    "LOSSY_INT16_QUANTIZED",
    "NONE",
)
CLUSTERING_STRATEGIES = ("none", "kmeans", "hierarchical", "adaptive")
CLEANUP_FREQUENCIES = ("never", "normal", "aggressive")


@dataclass(frozen=True)
class RepositoryConfig:
    """How a repository stores. Nothing here changes what comes back, except the encodings that say LOSSY."""

    setting: str = "balanced"
    """The place on the curve of size against speed: small, balanced or fast."""
    similarity_threshold: float = 0.98
    """How alike (cosine of sketches) a tensor of another name must be to serve as a base."""
    delta_encoding: str = "AUTO"
    """AUTO tries plain, XOR and difference on a sample and keeps the smallest."""
    clustering_strategy: str = "adaptive"
    """How tensors are grouped to find bases when the repository is repacked."""
    enable_gc: bool = True
    """Whether commits may trigger a collection of what nothing refers to."""
    batch_size: int = 256
    """Tensors a pack file holds at most."""
    lazy_loading: bool = False
    """True: `checkout` reads a tensor when it is first looked at."""
    memory_limit_mb: int = 512
    """Memory for decoded bases kept between tensors and for tensors in flight."""
    cleanup_frequency: str = "normal"
    """How often a commit collects: never, every 64 commits, or after every commit (aggressive)."""
    streaming_operations: bool = True
    """True: one tensor is read at a time. False: `checkout` reads as many at once as there are cores."""
    longest_chain: int = 8
    """Differences that may stand on one another before a tensor is stored whole again."""

    memory_mapping: bool = True
    """False: packs are read piece by piece, for file systems on which a mapping is slow or not allowed."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


PRESETS: Mapping[str, RepositoryConfig] = {
    "high_compression": RepositoryConfig(
        setting="small",
        similarity_threshold=0.995,
        delta_encoding="COMPRESSED",
        clustering_strategy="adaptive",
        enable_gc=True,
    ),
    "high_performance": RepositoryConfig(
        setting="fast",
        similarity_threshold=0.98,
        delta_encoding="FLOAT32_RAW",
        clustering_strategy="kmeans",
        batch_size=1000,
    ),
    "memory_constrained": RepositoryConfig(
        lazy_loading=True, memory_limit_mb=2048, cleanup_frequency="aggressive", streaming_operations=True
    ),
}


def read_stored_config(where: object, value: Mapping[str, Any]) -> Any:
    """The configuration in a repository's `format` file, whose version must be the one that this code reads."""
    check_format(where, value.get("format"))
    return value.get("config")


def repository_config(
    given: RepositoryConfig | Mapping[str, Any] | str | None, base: RepositoryConfig | None = None
) -> RepositoryConfig:
    """A preset by name, a mapping of some keys over `base`, or nothing; every problem is reported at once."""
    base = base or RepositoryConfig()
    if given is None:
        return base
    if isinstance(given, RepositoryConfig):
        return _check(given)
    if isinstance(given, str):
        if given in SETTINGS:
            return replace(base, setting=given)
        if given not in PRESETS:
            raise ConfigError([f"config: {unknown('preset or setting', given, [*PRESETS, *SETTINGS])}"])
        return PRESETS[given]
    known = [field.name for field in fields(RepositoryConfig)]
    problems = []
    for key in given:
        if key not in known:
            problems.append(f"config: {unknown('key', key, known)}")
    if problems:
        raise ConfigError(problems)
    return _check(replace(base, **given))


def _check(config: RepositoryConfig) -> RepositoryConfig:
    problems = []

    def require(key: str, holds: bool, wanted: str) -> None:
        if not holds:
            problems.append(f"config: {key} must be {wanted}, not {getattr(config, key)!r}")

    def one_of(key: str, choices: tuple[str, ...]) -> None:
        if getattr(config, key) not in choices:
            problems.append(f"config: {unknown(key, getattr(config, key), choices)}")

    def whole(key: str, least: int) -> None:
        value = getattr(config, key)
        require(key, type(value) is int and value >= least, f"a whole number of at least {least}")

    one_of("setting", SETTINGS)
    one_of("delta_encoding", DELTA_ENCODINGS)
    one_of("clustering_strategy", CLUSTERING_STRATEGIES)
    one_of("cleanup_frequency", CLEANUP_FREQUENCIES)
    threshold = config.similarity_threshold
    require(
        "similarity_threshold",
        isinstance(threshold, int | float) and not isinstance(threshold, bool) and 0 <= threshold <= 1,
        "a number from 0 to 1",
    )
    for key in ("enable_gc", "lazy_loading", "streaming_operations", "memory_mapping"):
        require(key, type(getattr(config, key)) is bool, "true or false")
    whole("batch_size", 1)
    whole("memory_limit_mb", 16)
    whole("longest_chain", 0)
    if problems:
        raise ConfigError(problems)
    return config
