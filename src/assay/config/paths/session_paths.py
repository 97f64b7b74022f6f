from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from assay.config.paths.named_path import NAME, NamedPath, NamedPaths
from assay.config.reading.load import Config
from assay.config.reading.placeholders import Datasets, UnknownPlaceholder, render
from assay.config.reading.repository import repository_of
from assay.errors import ConfigError
from assay.names import unknown

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
