from __future__ import annotations

from enum import Enum


class Voice(Enum):
    """How much of a session is said on the screen; session.log has the same whatever it is."""

    SILENT = "silent"
    """Nothing is said: for a program that reads the records."""
    QUIET = "quiet"
    """Only the result."""
    NORMAL = "normal"
    VERBOSE = "verbose"
    """Every line of session.log as well."""
