from __future__ import annotations

from dataclasses import dataclass

from assay.errors import UsageError
from assay.names import unknown


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
