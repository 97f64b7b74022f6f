from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def object_store_size(value: Any) -> Any:
    """Bytes as an integer, a fraction of memory as a float from 0 to 1, or `default`."""
    if value is None or value == "default":
        return value
    try:
        number = float(value) if not isinstance(value, bool) else 0.0
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number < float("inf") or (number > 1 and number != int(number)):
        raise ValueError(f"is bytes, a fraction of memory such as 0.5, or `default`, not {value!r}")
    fraction = number < 1 or isinstance(value, float) or (isinstance(value, str) and "." in value)
    return number if number <= 1 and fraction else int(number)


ObjectStoreSize = Annotated[int | float | Literal["default"] | None, BeforeValidator(object_store_size)]


class RayConfig(BaseModel):
    """A Ray cluster of the entry's own, or with `address` one that is there already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    num_cpus: int | None = Field(
        default=None, ge=0, description="Processors that the cluster offers; all by default.", examples=[8]
    )
    num_gpus: int | None = Field(
        default=None, ge=0, description="GPUs that the cluster offers; those there are by default.", examples=[1]
    )
    object_spilling: bool | None = Field(
        default=None,
        description="Whether objects go to disk when the store is full; true by default.",
        examples=[False],
    )
    enable_object_spilling: bool | None = Field(
        default=None, description="The older name of object_spilling.", examples=[False]
    )
    object_store_size: ObjectStoreSize = Field(
        default=None,
        description="Size of the object store: bytes, a fraction of memory (0.5), or `default`: Ray's own.",
        examples=[2_000_000_000],
    )
    address: str | None = Field(
        default=None, description="Use this cluster; none is started.", examples=["10.0.0.5:6379"]
    )
    isolation: Literal["ports", "namespace"] = Field(
        default="ports",
        description="`namespace` (root): entry and cluster see only each other and the loopback.",
        examples=["namespace"],
    )
    start_timeout_s: float = Field(
        default=90.0, gt=0, description="Seconds the cluster may take to start.", examples=[180]
    )

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.object_spilling is not None and self.enable_object_spilling is not None:
            raise ValueError("object_spilling and enable_object_spilling are two names of one thing: give one")
        return self

    @property
    def spills(self) -> bool:
        """Whether Ray spills to disk, which it does unless told not to."""
        given = self.object_spilling if self.object_spilling is not None else self.enable_object_spilling
        return True if given is None else given
