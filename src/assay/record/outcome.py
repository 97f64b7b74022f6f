from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended. Only PASSED is a success; the record's reasons say the rest in words."""

    PASSED = "passed"
    FAILED = "failed"
    """Exited with another code than 0."""
    CRASHED = "crashed"
    """Ended by a signal that Assay did not send."""
    TIMEOUT = "timeout"
    INVALID = "invalid"
    """Exited 0, but its results are missing, unreadable, or say that it did not succeed."""
    MISSED = "missed"
    """Measured, but a requirement does not hold."""
    NOT_STARTED = "not_started"
    """Its configuration is wrong, or something it needs is not there."""
    SKIPPED = "skipped"
    """An entry it needs did not pass."""
    INTERRUPTED = "interrupted"

    @property
    def words(self) -> str:
        """The outcome as people read it: `not started`."""
        return self.value.replace("_", " ")
