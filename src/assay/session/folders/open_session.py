from __future__ import annotations

from dataclasses import dataclass

from assay.record import Environment, SessionFolder, SessionInfo


@dataclass(frozen=True)
class OpenSession:
    """A session that runs can be added to: its folder, and what is known of it before the first."""

    folder: SessionFolder
    environment: Environment
    info: SessionInfo
