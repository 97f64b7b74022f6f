"""Every kind of attack, by name."""

from __future__ import annotations

from campaign.fuzz.foreign_files import Configurations, ForeignFiles
from campaign.fuzz.program_results import ProgramResults
from campaign.fuzz.sessions import DamagedSessions
from campaign.kind import Kind

_ALL: tuple[Kind, ...] = (
    DamagedSessions(),
    ProgramResults(),
    ForeignFiles(),
    Configurations(),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
