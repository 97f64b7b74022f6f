from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, field_validator

from assay.config.model import Model

IN_CONTAINER = "ASSAY_IN_CONTAINER"
"""Environment variable that the container's start script sets to 1."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
MOUNT = "/MOUNT"
"""What stands before a host path in the container, where no container_path is given."""


class NamedPath(Model):
    """A file or folder that has one path on the host and another in a container."""

    name: str = Field(
        description="Name of the placeholder: {name}.", pattern=f"^{NAME.pattern}$", examples=["datasets_path"]
    )
    host_path: str = Field(description="Where it is on the host.", examples=["/raid/datasets"])
    container_path: str | None = Field(
        default=None,
        description="Where a container has it; /MOUNT and the host path by default.",
        examples=["/datasets"],
    )
    writable: bool | None = Field(
        default=None,
        description="Whether a container may write there; by default to results, artifacts and what data setups name.",
        examples=[True],
    )

    @field_validator("host_path", "container_path")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        if value is not None and (not value.strip() or any(ord(letter) < 32 for letter in value)):
            raise ValueError("is empty, or has a tab, a line end or another control character in it")
        return value

    @field_validator("container_path")
    @classmethod
    def _whole(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError("must begin with /")
        return value

    @property
    def host(self) -> str:
        return os.path.abspath(os.path.expanduser(self.host_path))

    @property
    def container(self) -> str:
        return self.container_path or f"{MOUNT}{self.host}"


def _form(written: Any) -> str:
    return "mapping" if isinstance(written, dict) else "list"


PathsConfig = Annotated[
    Annotated[dict[str, str], Tag("mapping")] | Annotated[list[NamedPath], Tag("list")], Discriminator(_form)
]
"""`{name: path}`, the same path everywhere, or a list of `NamedPath`s."""


class NamedPaths:
    """`paths:` of a session, here: on the host, or in a container that was told so by ASSAY_IN_CONTAINER."""

    def __init__(self, written: dict[str, str] | list[NamedPath], environment: Mapping[str, str]) -> None:
        self.contained = environment.get(IN_CONTAINER, "").strip().lower() not in ("", "0", "false", "no", "off")
        self.mounted = tuple(written) if isinstance(written, list) else ()
        """Those that have a path on each side."""
        if isinstance(written, list):
            self.here = {path.name: path.container if self.contained else path.host for path in written}
        else:
            self.here = dict(written)

    def on_host(self, path: str) -> str:
        """Where the host has what is at `path` here. Of folders in each other the inner one counts."""
        places = {item.container: item.host for item in self.mounted} if self.contained else {}
        inside = [place for place in places if PurePosixPath(path).is_relative_to(place)]
        if not inside:
            return path
        place = max(inside, key=len)
        return str(PurePosixPath(places[place]) / PurePosixPath(path).relative_to(place))
