from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assay.config.load import Config
from assay.config.paths.named_path import NamedPath, NamedPaths
from assay.config.placeholders import Datasets, UnknownPlaceholder, render
from assay.config.repository import repository_of
from assay.document.node import shown
from assay.errors import ConfigError

_PLAIN = ("results_path", "datasets_path", "model_weights_path")
"""Named paths that may also stand at the top of a file, as an older form of `paths:` has it."""


class SessionPaths:
    """Every path that a session's files name, as it is here."""

    def __init__(self, config: Config, environment: Mapping[str, str]) -> None:
        self._config = config
        session = config.session
        known = session.paths if isinstance(session.paths, list) else []
        names = {path.name for path in known} if known else set(session.paths)
        plain = [(name, getattr(session, name)) for name in _PLAIN if name not in names]
        plain = [(name, path) for name, path in plain if path is not None and path not in names and "{" not in path]
        own = [NamedPath(name=name, host_path=path) for name, path in plain]
        self.named = NamedPaths([*known, *own], environment)
        same = session.paths if isinstance(session.paths, dict) else {}
        repository = str(repository_of(config.files[0].parent)) if config.files else str(Path.cwd())
        self.values = {**same, **self.named.here, "repo_dir": repository, "curator_repo_dir": repository}
        """Of the placeholders."""

    @property
    def results_dir(self) -> Path:
        session = self._config.session
        written = session.results_path
        if "results_dir" in session.model_fields_set or (written is None and "results_path" not in self.values):
            return self._folder("results_dir", session.results_dir)
        if written is None or (written not in self.values and "{" not in written):
            return self._folder("results_path", self.values["results_path"])
        return self._folder("results_path", self.values.get(written, written))

    @property
    def artifacts_dir(self) -> Path:
        written = self._config.session.artifacts_dir
        return self._folder("artifacts_dir", written) if written else self.results_dir / "artifacts"

    def _folder(self, key: str, written: str) -> Path:
        try:
            filled = render(written, self.values, Datasets({}))
        except UnknownPlaceholder as error:
            raise ConfigError([f"{self._config.root.at((key,)).mark}: {shown((key,))}: {error}"]) from None
        return Path(os.path.abspath(Path(filled).expanduser()))
