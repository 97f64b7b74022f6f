"""The golden repositories: a configuration each, and which tensors of which versions it holds."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.weights.golden.tensors import Tensors, versions


@dataclass(frozen=True)
class GoldenCase:
    name: str
    config: dict[str, Any]
    names: tuple[str, ...]
    """Names of the tensors it holds, with * and ?."""
    count: int = 2
    """Number of versions."""

    def versions(self) -> list[Tensors]:
        return [
            {name: tensor for name, tensor in version.items() if any(fnmatchcase(name, some) for some in self.names)}
            for version in versions()[: self.count]
        ]


def _forced(encoding: str, setting: str = "small") -> dict[str, Any]:
    return {"setting": setting, "delta_encoding": encoding}


CASES = (
    GoldenCase("small", {"setting": "small"}, (
        "lane.*", "few.*", "alone.l*.float32", "alone.lane.*", "scalar", "empty", "odd.layout", "same.bits",
        "two.chunks",
    ), 3),
    GoldenCase("small-lanes", {"setting": "small"}, (
        "lanes.bfloat16.2.1", "lanes.float8", "lanes.float32.28.25", "lanes.float32.3.1", "lanes.float16.4.100",
    )),
    GoldenCase("balanced", {"setting": "balanced"}, (
        "lanes.bfloat16.2.1", "lanes.float16.13.25", "lanes.float32.28.25", "alone.lanes.bfloat16", "alone.text",
        "scalar",
        "lane.bfloat16.2.1", "two.chunks",
    ), 3),
    GoldenCase("fast", {"setting": "fast"}, (
        "lanes.bfloat16.9.1", "lanes.float32.28.25", "lanes.float8", "scalar",
    )),
    GoldenCase("difference", _forced("COMPRESSED"), ("lanes.float32.21.1", "lanes.float32.14.1", "lane.float32.21.1")),
    GoldenCase("difference-fast", _forced("COMPRESSED", "fast"), ("lanes.float32.21.1", "lane.float64")),
    GoldenCase("xor", _forced("XOR"), ("lanes.float32.14.1", "lanes.float16.2.1", "lanes.float8", "lane.float*")),
    GoldenCase("sparse", _forced("SPARSE"), ("lane.*16.*", "lane.float64")),
    GoldenCase("none", _forced("NONE"), ("lane.*16.*", "lane.float64")),
    GoldenCase("raw", _forced("FLOAT32_RAW"), ("lane.bfloat16.2.1", "lane.float64")),
    GoldenCase("lossy8", _forced("LOSSY_INT8_QUANTIZED"), ("lane.float32.1*", "lane.bfloat16.2.1")),
    GoldenCase("lossy16", _forced("LOSSY_INT16_QUANTIZED"), ("lane.float32.1*", "lane.float16.2.1")),
)  # fmt: skip
