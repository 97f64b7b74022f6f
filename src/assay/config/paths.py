from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from pydantic import Discriminator, Field, Tag, field_validator

from assay.config.base_model import Model
from assay.config.entry_config import EntryConfig
from assay.config.placeholders import Datasets, UnknownPlaceholder, render
from assay.errors import ConfigError
from assay.names import unknown

if TYPE_CHECKING:
    from assay.config.load_config import Config


def repository_of(folder: Path) -> Path:
    """The nearest folder upwards with `.git`; without one, the folder itself."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


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


_PLAIN = ("results_path", "datasets_path", "model_weights_path")
"""Named paths that may also stand at the top of a file, as an older form of `paths:` has it."""


class SessionPaths:
    """Every path that a session's files name, as it is here."""

    def __init__(self, config: Config, environment: Mapping[str, str]) -> None:
        self._config = config
        paths = config.session.paths
        named = {path.name: path for path in paths} if isinstance(paths, list) else {}
        same = dict(paths) if isinstance(paths, dict) else {}
        listed = (*named, *same)
        for name in _PLAIN:
            path = getattr(config.session, name)
            if path is not None and path not in listed and "{" not in path:
                if listed and NAME.fullmatch(path):
                    self._refuse(name, f"{unknown('path', path, listed)}; a folder of that name is written ./{path}")
                named[name] = NamedPath(name=name, host_path=path)
        self.named = NamedPaths(list(named.values()), environment)
        repository = str(repository_of(config.files[0].parent)) if config.files else str(Path.cwd())
        self.values = {
            "python": sys.executable,
            **same,
            **self.named.here,
            "repo_dir": repository,
            "curator_repo_dir": repository,
        }
        """Values of the placeholders."""
        for name in _PLAIN:
            path = getattr(config.session, name)
            if path is not None and name not in named:
                self.values[name] = self.values.get(path) or self._fill(name, path)

    @property
    def results_dir(self) -> Path:
        session = self._config.session
        if "results_dir" in session.model_fields_set or "results_path" not in self.values:
            return _folder(self._fill("results_dir", session.results_dir))
        return _folder(self.values["results_path"])

    @property
    def artifacts_dir(self) -> Path:
        written = self._config.session.artifacts_dir
        return _folder(self._fill("artifacts_dir", written)) if written else self.results_dir / "artifacts"

    def _fill(self, key: str, written: str) -> str:
        try:
            return render(written, self.values, Datasets({}))
        except UnknownPlaceholder as error:
            self._refuse(key, str(error))

    def _refuse(self, key: str, why: str) -> NoReturn:
        raise ConfigError([f"{self._config.root.at((key,)).mark}: {key}: {why}"]) from None


def _folder(written: str) -> Path:
    return Path(os.path.abspath(Path(written).expanduser()))


@dataclass(frozen=True)
class Volume:
    """A path of the host that a container must be given, and where."""

    host: str
    container: str
    writable: bool

    def __str__(self) -> str:
        return f"{self.host}\t{self.container}\t{'rw' if self.writable else 'ro'}"


def volumes(config: Config, environment: Mapping[str, str]) -> list[Volume]:
    """Every named path; and what has the same path on both sides (data sets, results, artifacts) at that place.

    Results, artifacts and what data setups name are writable, and what says so; everything else is read-only.
    """
    host, inside = (SessionPaths(config, {**environment, IN_CONTAINER: here}) for here in ("", "1"))
    written_to = [str(host.results_dir), str(host.artifacts_dir)]
    setups = [text for setup in config.session.data_setups for text in _texts(setup)]
    given = [Volume(path.host, path.container, _is_writable(path, written_to, setups)) for path in host.named.mounted]
    results = [(str(paths.results_dir), str(paths.artifacts_dir)) for paths in (host, inside)]
    same = [Volume(here, there, True) for here, there in zip(*results, strict=True)]
    same += list(_plain(config.session.paths, setups))
    same += [Volume(here, there, False) for here, there in zip(_data(config, host), _data(config, inside), strict=True)]
    for volume in same:
        if volume.host == volume.container and not any(_covers(outer, volume) for outer in given):
            given.append(volume)
    _check(given)
    return given


def _covers(outer: Volume, inner: Volume) -> bool:
    in_place = outer.host == outer.container and PurePosixPath(inner.host).is_relative_to(outer.host)
    return in_place and (outer.writable or not inner.writable)


def _is_writable(path: NamedPath, written_to: list[str], setups: list[str]) -> bool:
    if path.writable is not None:
        return path.writable
    inside = any(PurePosixPath(folder).is_relative_to(path.host) for folder in written_to)
    return inside or _is_named(path.name, setups)


def _is_named(name: str, setups: list[str]) -> bool:
    return any(f"{{{name}}}" in text for text in setups)


def _plain(paths: dict[str, str] | list[NamedPath], setups: list[str]) -> Iterator[Volume]:
    """Volumes of `paths: {name: path}`, which are the same on the host and in the container."""
    for name, written in paths.items() if isinstance(paths, dict) else ():
        path = os.path.abspath(os.path.expanduser(written))
        yield Volume(path, path, _is_named(name, setups))


def _texts(setup: EntryConfig) -> Iterator[str]:
    for words in (setup.args, setup.command or ""):
        yield words if isinstance(words, str) else " ".join(words)
    yield from setup.env.values()


def _data(config: Config, paths: SessionPaths) -> Iterator[str]:
    """Paths of data sets that are files of a machine; a pattern's folder stands for it."""
    for text in [form.path for data in config.session.datasets for form in data.formats]:
        try:
            path = PurePosixPath(os.path.expanduser(render(text, paths.values, Datasets({}))))
        except UnknownPlaceholder:
            continue  # the entries that use it say so
        while any(sign in path.name for sign in "*?["):
            path = path.parent
        if path.is_absolute() and "://" not in text:
            yield str(path)


def _check(found: list[Volume]) -> None:
    """One place in the container can hold one thing."""
    problems = []
    at: dict[str, Volume] = {}
    for volume in found:
        other = at.setdefault(volume.container, volume)
        if other.host != volume.host:
            problems.append(f"paths: {other.host} and {volume.host} cannot both be {volume.container} in a container")
        if any(ord(letter) < 32 for letter in f"{volume.host}{volume.container}"):
            problems.append(f"paths: {volume.host!r} has a control character in it, and cannot be given to a container")
    if problems:
        raise ConfigError(problems)
