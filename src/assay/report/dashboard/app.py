from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, MissingExtra
from assay.report.dashboard import entry_pages, run_pages, session_pages
from assay.report.dashboard.asked import NotThere
from assay.report.dashboard.store import Store
from assay.report.page_templates import SCRIPTS, templates
from assay.report.style import SHEETS, TEMPLATES

if TYPE_CHECKING:
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
_STATIC = {
    **{name: (TEMPLATES / name, "text/css") for name in SHEETS},
    **{name: (TEMPLATES / name, "text/javascript") for name in SCRIPTS},
    "live.js": (TEMPLATES / "dashboard" / "live.js", "text/javascript"),
}

Page = Callable[[Store, Mapping[str, str]], Any]


def dashboard(results_dir: Path, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """Read only: every route answers GET and nothing else. `hosts` are the names it may be asked under, because a page
    elsewhere could otherwise have its own name point here (DNS rebinding) and read the answers."""
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("The dashboard (starlette)", "serve") from None
    store = Store(results_dir)
    routes = [Route(path, _endpoint(store, template, page)) for path, (template, page) in PAGES.items()]
    routes += [Route("/live", _live(store)), Route("/static/{name}", _static)]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))])


PAGES: dict[str, tuple[str, Page]] = {
    "/": ("sessions.html", session_pages.sessions),
    "/session": ("session.html", session_pages.session),
    "/session/entry": ("session_entry.html", session_pages.session_entry),
    "/entries": ("entries.html", entry_pages.entries),
    "/entry": ("entry.html", entry_pages.entry),
    "/series": ("series.html", entry_pages.series),
    "/runs": ("runs.html", run_pages.runs),
    "/compare": ("compare.html", run_pages.compare_two),
}


def _endpoint(store: Store, template: str, page: Page) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        asked = {name: value for name, value in request.query_params.items() if value}
        try:
            shown = page(store, asked)
        except AssayError as error:
            return _html("message.html", 404 if isinstance(error, NotThere) else 400, message=str(error))
        return _html(template, 200, shown=shown, asked=asked, path=request.url.path)

    return answer


def _html(template: str, status: int, **values: Any) -> Response:
    from starlette.responses import HTMLResponse

    text = templates().get_template(f"dashboard/{template}").render(**values)
    return HTMLResponse(text, status_code=status, headers=HEADERS)


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


def _static(request: Request) -> Response:
    from starlette.responses import PlainTextResponse
    from starlette.responses import Response as Plain

    path, kind = _STATIC.get(request.path_params["name"], (None, ""))
    if path is None or not path.is_file():
        return PlainTextResponse("not found", status_code=404, headers=HEADERS)
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {**HEADERS, "Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Plain(status_code=304, headers=headers)
    return Plain(content, media_type=kind, headers=headers)
