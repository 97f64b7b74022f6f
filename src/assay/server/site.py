"""The dashboard as files for any web host: every page written once, with relative links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from assay.files.writing import write_atomic
from assay.server import compare_page, home_page, series_page, session_pages
from assay.server.address import Listed, publishing
from assay.server.app import STATIC, render
from assay.server.session_store import Store

_NOWHERE = "assay:not-published"
_UNLINKED = re.compile(rf'<a\b[^>]*href="{_NOWHERE}"[^>]*>(.*?)</a>', re.DOTALL)

Told = Callable[[int, int], None]
"""Pages written, and how many there will be."""


@dataclass(frozen=True)
class Published:
    folder: Path
    pages: int
    bytes: int
    left_out: tuple[str, ...]
    """Pages that could not be made, and why."""


@dataclass(frozen=True)
class _SitePage:
    file: str
    template: str
    path: str
    asked: Mapping[str, str]
    make: Callable[[], Any]


class Site:
    """What of a results folder is published: the first screen, all entries and their series, and the newest sessions.

    A page is found by what the server is asked for, so the templates need not know which of the two they are for."""

    def __init__(self, store: Store, sessions: int) -> None:
        self._store, self._newest = store, sessions
        self._at = datetime.now(UTC).isoformat(timespec="seconds")
        self._files: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}

    def write(self, folder: Path, told: Told = lambda done, total: None) -> Published:
        """Into a folder that is empty, or that an earlier one was written to."""
        pages = list(self._pages())
        self._files = {(page.path, tuple(sorted(page.asked.items()))): page.file for page in pages}
        (folder / "static").mkdir(parents=True, exist_ok=True)
        written, left_out = 0, []
        for name, (source, _) in STATIC.items():
            text = source.read_text(encoding="utf-8")
            write_atomic(folder / "static" / name, text)
            written += len(text.encode())
        with publishing(self._link, self._at):
            for at, page in enumerate(pages):
                told(at, len(pages))
                try:
                    text = render(page.template, shown=page.make(), asked=page.asked, path=page.path)
                except AssayError as error:
                    left_out.append(f"{page.file}: {error}")
                    text = render("message.html", message=str(error))
                text = _UNLINKED.sub(r"\1", text)
                write_atomic(folder / page.file, text)
                written += len(text.encode())
        write_atomic(folder / ".nojekyll", "")
        return Published(folder, len(pages), written, tuple(left_out))

    def _link(self, path: str, asked: Mapping[str, str]) -> str:
        if path.startswith("/static/"):
            return path.removeprefix("/")
        if path == "/session/entry":
            # What one session's run left behind is not published; the entry's own page has its series and runs.
            path, asked = "/entry", {"name": asked.get("entry", "")}
        known = self._files.get((path, tuple(sorted(asked.items()))))
        if known is None and path == "/" and asked:
            return f"{self._files['/', ()]}?{'&'.join(f'{key}={_quote(value)}' for key, value in asked.items())}"
        return known or _NOWHERE

    def _pages(self) -> Iterator[_SitePage]:
        yield from self._home()
        with self._store.history() as history:
            if history is None:
                return
            sessions = history.sessions(limit=self._newest)
            names = history.entries()
            series = [one.id for name in names for one in history.series(entry=name, limit=300)]
        store = self._store
        shown = session_pages.SessionsPage(Listed(tuple(sessions), 0, False), ())
        yield _SitePage("sessions.html", "sessions.html", "/sessions", {}, lambda: shown)
        yield _SitePage("entries.html", "entries.html", "/entries", {}, lambda: session_pages.entries(store, {}))
        for number, row in enumerate(sessions):
            asked = {"name": row.name}
            yield self._page(f"session-{number + 1}.html", "session.html", "/session", asked, session_pages.session)
        before = shown.previous(0) if sessions else None
        if before is not None:
            asked = {"base": before.name, "head": sessions[0].name}
            yield self._page("compare.html", "compare.html", "/compare", asked, compare_page.compare)
        for number, name in enumerate(names):
            yield self._page(f"entry-{number + 1}.html", "entry.html", "/entry", {"name": name}, session_pages.entry)
        for id in series:
            yield self._page(f"series-{id}.html", "series.html", "/series", {"id": str(id)}, series_page.series)

    def _page(self, file: str, template: str, path: str, asked: dict[str, str], make: Any) -> _SitePage:
        return _SitePage(file, template, path, asked, lambda: make(self._store, asked))

    def _home(self) -> Iterator[_SitePage]:
        whole = home_page.home(self._store, {})
        rows = whole.board.rows
        size = home_page.ROWS
        parts = [rows[at : at + size] for at in range(0, len(rows), size)] or [()]
        files = ["index.html", *(f"index-{number}.html" for number in range(2, len(parts) + 1))]
        for number, (file, part) in enumerate(zip(files, parts, strict=True)):
            shown = replace(
                whole, running=(), rows=Listed(tuple(part), number, False), may_acknowledge=False,
                more_files=tuple(files[1:]) if not number else (),
            )  # fmt: skip
            asked = {"page": str(number)} if number else {}
            yield _SitePage(file, "home.html", "/", asked, lambda shown=shown: shown)  # type: ignore[misc]


def _quote(value: str) -> str:
    from urllib.parse import quote

    return quote(value, safe="")
