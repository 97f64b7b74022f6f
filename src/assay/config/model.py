from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


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
