"""All records over time in one embedded database, rebuilt from session folders at will."""

from assay.history.find_session import find_session, session_folders
from assay.history.history import Added, History
from assay.history.rows import Point, RunRow, Series, SessionRow, Track
from assay.history.write_records import reasons_against

__all__ = [
    "Added",
    "History",
    "Point",
    "RunRow",
    "Series",
    "SessionRow",
    "Track",
    "find_session",
    "reasons_against",
    "session_folders",
]
