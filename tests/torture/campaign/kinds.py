"""Every kind of attack, by name."""

from __future__ import annotations

from campaign.fuzz.foreign_files import Configurations, ForeignFiles
from campaign.fuzz.program_results import ProgramResults
from campaign.fuzz.sessions import DamagedSessions
from campaign.kind import Kind

from campaign.fuzz.weight_files import DamagedRepositories, ModelFiles
from campaign.faults.kills import Kills
from campaign.faults.full_disks import FullDisks
from campaign.faults.two_writers import TwoWriters, Pushes
from campaign.faults.clocks import Clocks
_ALL: tuple[Kind, ...] = (
    DamagedSessions(),
    ProgramResults(),
    ForeignFiles(),
    Configurations(),
    FullDisks(),TwoWriters(),Pushes(),Clocks(),
    Kills(),
    ModelFiles(),
    DamagedRepositories(),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
