from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from assay.config.entries.entry_config import EntryConfig
from assay.config.paths.named_path import IN_CONTAINER, NamedPath
from assay.config.paths.session_paths import SessionPaths
from assay.config.reading.load import Config
from assay.config.reading.placeholders import Datasets, UnknownPlaceholder, render
from assay.errors import ConfigError


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
