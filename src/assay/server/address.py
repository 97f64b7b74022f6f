"""Addresses of the dashboard's pages. A view is all in its address, so that it can be sent to somebody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from assay.errors import UsageError
from assay.history import History

if TYPE_CHECKING:
    from assay.server.session_store import Opened, Store


Links = Callable[[str, Mapping[str, str]], str]
"""Makes a link of a path and what is asked for; what is asked several times has a line for each."""
SEVERAL = ("with", "metric")
"""What an address may ask several times."""


def _link_on_server(path: str, asked: Mapping[str, str]) -> str:
    pairs = [(name, part) for name, value in asked.items() for part in value.split("\n")]
    return f"{path}?{urlencode(pairs)}" if pairs else path


_LINKS: ContextVar[Links] = ContextVar("links", default=_link_on_server)
_PUBLISHED: ContextVar[str] = ContextVar("published", default="")


def read_asked(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What an address asks for; empty fields of a form are as good as none."""
    asked: dict[str, str] = {}
    for name, value in pairs:
        if value:
            asked[name] = f"{asked[name]}\n{value}" if name in asked and name in SEVERAL else value
    return asked


def address(path: str, **asked: object) -> str:
    given = {name: str(value) for name, value in asked.items() if value not in (None, "", 0)}
    return _LINKS.get()(path, given)


def change_address(path: str, asked: Mapping[str, str], **changes: object) -> str:
    """The same view with some of what was asked changed."""
    return address(path, **{**asked, **changes})


def publication_time() -> str:
    """When the page was written as a file of a published site; empty on a server."""
    return _PUBLISHED.get()


@contextmanager
def publishing(links: Links, at: str) -> Iterator[None]:
    """Within, pages are linked by `links`: a published site has files where the server has addresses."""
    tokens = _LINKS.set(links), _PUBLISHED.set(at)
    try:
        yield
    finally:
        _LINKS.reset(tokens[0])
        _PUBLISHED.reset(tokens[1])


# What an address asks for, checked.

PAGE = 50
Asked = Mapping[str, str]


class NotThere(UsageError):
    """What an address asks for does not exist; answered with 404."""


@dataclass(frozen=True)
class Listed:
    """One page of a long list."""

    rows: tuple[Any, ...]
    page: int
    more: bool


def open_session(store: Store, history: History | None, name: str) -> Opened:
    opened = store.session(name, history)
    if opened is None:
        raise NotThere(f"there is no session {name!r}")
    return opened


def number_asked(asked: Asked, name: str) -> int:
    written = asked.get(name, "0")
    if not written.isdecimal() or len(written) > 9:
        raise UsageError(f"{name} must be a number, not {written!r}")
    return int(written)


def commit_asked(asked: Asked) -> str | None:
    written = asked.get("commit", "").lower()
    if not all(char in "0123456789abcdef" for char in written):
        raise UsageError(f"{written!r} is not the beginning of a commit's id")
    return written or None
