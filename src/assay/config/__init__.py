"""Session YAML → a merged, resolved `Plan`. Configuration is trusted; nothing here runs a program."""

DEFAULT_TIMEOUT_S = 7200.0
"""A run may take this long where nobody says otherwise."""
DEFAULT_GRACE_S = 5.0
"""Seconds between SIGTERM and SIGKILL where nobody says otherwise."""
