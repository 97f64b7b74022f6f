"""Addresses of the dashboard's pages. A view is all in its address, so that it can be sent to somebody."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode


def address(path: str, **asked: object) -> str:
    given = {name: str(value) for name, value in asked.items() if value not in (None, "", 0)}
    return f"{path}?{urlencode(given)}" if given else path


def changed(path: str, asked: Mapping[str, str], **changes: object) -> str:
    """The same view with some of what was asked changed."""
    return address(path, **{**asked, **changes})
