"""Every kind of attack, by name."""

from __future__ import annotations

from campaign.faults.clocks import Clocks
from campaign.faults.full_disks import FullDisks
from campaign.faults.kills import Kills
from campaign.faults.two_writers import Pushes, TwoWriters
from campaign.fuzz.cut_sessions import CutSessions
from campaign.fuzz.dashboard_requests import DashboardRequests
from campaign.fuzz.foreign_files import Configurations, ForeignFiles
from campaign.fuzz.http_answers import S3Answers, SinkAnswers
from campaign.fuzz.program_results import ProgramResults
from campaign.fuzz.sessions import DamagedSessions
from campaign.fuzz.weight_files import DamagedRepositories, ModelFiles
from campaign.kind import Kind

_ALL: tuple[Kind, ...] = (
    DamagedSessions(),
    CutSessions(),
    ProgramResults(),
    ForeignFiles(),
    Configurations(),
    ModelFiles(),
    DamagedRepositories(),
    SinkAnswers(),
    S3Answers(),
    DashboardRequests(),
    Kills(),
    FullDisks(),
    TwoWriters(),
    Pushes(),
    Clocks(),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
