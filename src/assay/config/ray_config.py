from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_SPILLING = {"object_spilling", "enable_object_spilling"}
"""Two names of one thing."""


class RayConfig(BaseModel):
    """A Ray cluster of the entry's own, or with `address` one that is there already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    num_cpus: int | None = Field(default=None, ge=0)
    num_gpus: int | None = Field(default=None, ge=0)
    object_spilling: bool | None = None
    enable_object_spilling: bool | None = Field(default=None, description="The older name of object_spilling.")
    object_store_size: int | None = Field(default=None, gt=0, description="Bytes.")
    address: str | None = Field(default=None, description="Use this cluster; none is started.")
    isolation: Literal["ports", "namespace"] = Field(
        default="ports", description="`namespace`: entry and cluster see only each other and the loopback."
    )
    start_timeout_s: float = Field(default=90.0, gt=0)

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.object_spilling is not None and self.enable_object_spilling is not None:
            raise ValueError("object_spilling and enable_object_spilling are two names of one thing: give one")
        return self

    def with_defaults(self, defaults: RayConfig) -> RayConfig:
        """What is not said here, as it is said there."""
        said, inherited = self.model_dump(exclude_unset=True), defaults.model_dump(exclude_unset=True)
        if said.keys() & _SPILLING:
            inherited = {key: value for key, value in inherited.items() if key not in _SPILLING}
        return RayConfig(**{**inherited, **said})

    @property
    def spills(self) -> bool:
        """Ray spills to disk unless told not to."""
        given = self.object_spilling if self.object_spilling is not None else self.enable_object_spilling
        return True if given is None else given
