from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Requirement(BaseModel):
    """A bound that a metric must keep for the entry to pass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: str = Field(
        description="Name in metrics.json, or `exec_time_s`, or `usage.peak_rss_mb` and the like.",
        examples=["rows_per_s"],
    )
    exact_value: Any = Field(default=None, description="Must be equal; `1` is not `true`.", examples=[True])
    min_value: float | None = Field(default=None, description="Must be at least this.", examples=[1000])
    max_value: float | None = Field(default=None, description="Must be at most this.", examples=[3000])
    max_regression: float | None = Field(
        default=None,
        ge=0,
        description="Share by which it may be worse than the recent level, or than `baseline`: 0.05 or 5%.",
        examples=["5%"],
    )

    @field_validator("max_regression", mode="before")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        return share(value)

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        bounds = {"exact_value", "min_value", "max_value", "max_regression"}
        if not bounds & self.model_fields_set:
            raise ValueError("needs one of exact_value, min_value, max_value, max_regression")
        if self.min_value is not None and self.max_value is not None and self.max_value < self.min_value:
            raise ValueError(f"no value is at least {self.min_value:g} and at most {self.max_value:g}")
        return self


def share(value: Any) -> Any:
    """`5%` as 0.05; anything else as it is."""
    if isinstance(value, str) and value.strip().endswith("%"):
        return float(value.strip()[:-1]) / 100
    return value
