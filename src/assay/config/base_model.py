from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assay.config.entry_name import ProgramLimits


class Model(BaseModel):
    """A mapping of a session file: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


def _words(value: Any) -> Any:
    """`true` in YAML is the word true for a program."""
    if isinstance(value, dict):
        return {key: str(item).lower() if isinstance(item, bool) else item for key, item in value.items()}
    return value


ProgramVariables = Annotated[dict[str, str], BeforeValidator(_words)]
"""`env:` of a program: variables over those that Assay itself has."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)


def megabytes(value: Any) -> Any:
    """`2GB`, `512 MB` as megabytes; a plain number is megabytes already."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if not match:
        raise ValueError("is not a size such as 512MB or 2GB")
    power = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}[match[2].lower()]
    return float(match[1]) * 1024**power / 1024**2


class Limits(Model):
    """What a run may use of the machine."""

    cpus: int | None = Field(default=None, ge=1, description="Processors the run may use.", examples=[2])
    memory: Annotated[float | None, BeforeValidator(megabytes)] = Field(
        default=None,
        gt=0,
        description="Memory of the whole process tree, in MB or as 2GB; the run is ended above it.",
        examples=["4GB"],
    )

    def resolve(self) -> ProgramLimits:
        return ProgramLimits(self.cpus, self.memory)
