from __future__ import annotations

import hashlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from assay.errors import AssayError, MissingExtra
from assay.report.page_templates import SCRIPTS, SHEETS, TEMPLATES, templates
from assay.server import compare_page, home_page, series_page, session_pages
from assay.server.address import NotThere, address, change_address, publication_time, read_asked
from assay.server.attention import acknowledge_asked, is_own
from assay.server.cache import KeptPage
from assay.server.session_store import Store

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
OWN_SHEETS = ("grid.css", "home.css", "series.css", "compare.css")
OWN_SCRIPTS = ("live.js", "grid.js", "series.js")
STATIC = {
    **{name: (TEMPLATES / name, "text/css") for name in SHEETS},
    **{name: (TEMPLATES / name, "text/javascript") for name in SCRIPTS},
    **{name: (TEMPLATES / "dashboard" / name, "text/css") for name in OWN_SHEETS},
    **{name: (TEMPLATES / "dashboard" / name, "text/javascript") for name in OWN_SCRIPTS},
}
_LONGEST_KEPT = 2000
"""Characters of an address whose page is kept."""
_LONGEST_BODY = 16_384

PageMaker = Callable[[Store, Mapping[str, str]], Any]

PAGES: dict[str, tuple[str, PageMaker]] = {
    "/": ("home.html", home_page.home),
    "/sessions": ("sessions.html", session_pages.sessions),
    "/session": ("session.html", session_pages.session),
    "/session/entry": ("session_entry.html", session_pages.session_entry),
    "/entries": ("entries.html", session_pages.entries),
    "/entry": ("entry.html", session_pages.entry),
    "/series": ("series.html", series_page.series),
    "/runs": ("runs.html", session_pages.runs),
    "/compare": ("compare.html", compare_page.compare),
}


def dashboard(results_dir: Path, hosts: tuple[str, ...] = LOOPBACK, *, may_acknowledge: bool = True) -> Starlette:
    """Every route answers GET and nothing else, but for the one that acknowledges. `hosts` are the names it may be
    asked under, because a page elsewhere could otherwise have its own name point here (DNS rebinding) and read the
    answers."""
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("The dashboard (starlette)", "serve") from None
    store = Store(results_dir, may_acknowledge)
    routes = [Route(path, _endpoint(store, path)) for path in PAGES]
    routes += [Route("/live", _live(store)), Route("/static/{name}", _static)]
    if may_acknowledge:
        routes.append(Route("/acknowledge", _acknowledge(store), methods=["POST"]))

    @asynccontextmanager
    async def serving(app: Starlette) -> AsyncIterator[None]:
        threading.Thread(target=_make_first_screen, args=(store,), name="first screen", daemon=True).start()
        yield

    only_asked_here = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    return Starlette(routes=routes, middleware=[only_asked_here], lifespan=serving)


def _endpoint(store: Store, path: str) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        from starlette.responses import RedirectResponse
        from starlette.responses import Response as Plain

        asked = read_asked(request.query_params.multi_items())
        if path == "/" and {"entry", "commit"} & set(asked):
            # Older addresses: the list of sessions was here before there was a first screen.
            return RedirectResponse(f"/sessions?{urlencode(asked)}", status_code=307, headers=HEADERS)

        kept = _load_kept_page(store, path, str(request.url.query), asked)
        return Plain(kept.content, kept.status, HEADERS, "text/html; charset=utf-8")

    return answer


def _load_kept_page(store: Store, path: str, address: str, asked: Mapping[str, str]) -> KeptPage:
    def make() -> KeptPage:
        return render_page(store, path, *PAGES[path], asked)

    if len(address) > _LONGEST_KEPT:
        return make()
    try:
        state = _state(store, path, asked)
    except AssayError:  # a history that cannot be read, which the page says
        return make()
    return store.pages.get((path, address), state, make)


def _make_first_screen(store: Store) -> None:
    """Makes the first screen before anybody asks: over a long history it takes seconds."""
    _load_kept_page(store, "/", "", {})


def _state(store: Store, path: str, asked: Mapping[str, str]) -> Hashable:
    return store.home_state() if path == "/" else store.state(asked)


def render_page(store: Store, path: str, template: str, page: PageMaker, asked: Mapping[str, str]) -> KeptPage:
    try:
        shown = page(store, asked)
        text = render(template, shown=shown, asked=asked, path=path)
    except AssayError as error:
        status = 404 if isinstance(error, NotThere) else 400
        return KeptPage(status, render("message.html", message=str(error)).encode("utf-8", "replace"), lasting=False)
    return KeptPage(200, text.encode("utf-8", "replace"), not getattr(shown, "running", False) or path == "/")


def render(template: str, **values: Any) -> str:
    return _dashboard_templates().get_template(f"dashboard/{template}").render(**values)


@cache
def _dashboard_templates() -> Environment:
    """The report's templates, and what only a page of the dashboard can say. Not added to the report's: Jinja keeps the
    macros of a file with what was known when it was first imported, which may have been for a report."""
    made = templates().overlay()
    made.globals = {**made.globals, "address": address, "changed": change_address, "published": publication_time}
    return made


def _live(store: Store) -> Callable[[Request], Response]:
    """What changes while a session runs, for the page's script to ask every second."""

    def answer(request: Request) -> Response:
        from starlette.responses import JSONResponse

        try:
            now = session_pages.live(store, dict(request.query_params))
        except AssayError as error:
            # The page's script asks for the page anew, which says the same to a person.
            return JSONResponse({"status": "unreadable", "message": str(error)}, status_code=400, headers=HEADERS)
        return JSONResponse(now, headers=HEADERS)

    return answer


def _acknowledge(store: Store) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import HTMLResponse, RedirectResponse

        def refuse(status: int, why: str) -> Response:
            return HTMLResponse(render("message.html", message=why), status, HEADERS)

        if not is_own(request.headers):
            return refuse(403, "only the dashboard's own pages may acknowledge something")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST_BODY:
                return refuse(413, "that is too long")
        try:
            back = await run_in_threadpool(acknowledge_asked, store, body)
        except AssayError as error:
            return refuse(400, str(error))
        return RedirectResponse(back, 303, HEADERS)

    return answer


@lru_cache(maxsize=64)
def _static_file(path: Path, changed_ns: int) -> tuple[bytes, str]:
    content = path.read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def _static(request: Request) -> Response:
    from starlette.responses import PlainTextResponse
    from starlette.responses import Response as Plain

    path, kind = STATIC.get(request.path_params["name"], (None, ""))
    if path is None or not path.is_file():
        return PlainTextResponse("not found", status_code=404, headers=HEADERS)
    content, tag = _static_file(path, path.stat().st_mtime_ns)
    headers = {**HEADERS, "Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Plain(status_code=304, headers=headers)
    return Plain(content, media_type=kind, headers=headers)
