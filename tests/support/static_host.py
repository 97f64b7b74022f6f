"""A host of static files, and what the first view of a site on it costs a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from browser import Watched
from playwright.sync_api import Browser


@dataclass(frozen=True)
class FirstView:
    bytes: int
    """Bytes of all answers, as they went over the wire."""
    requests: int
    loaded_s: float
    """Seconds from the start of the navigation until everything is loaded."""
    browser_cpu_s: float
    """CPU seconds of the page's own process, until then."""
    errors: tuple[str, ...]
    outside: tuple[str, ...]
    """Requests to other hosts."""


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def static_host(folder: Path) -> Iterator[str]:
    """Its address."""
    host = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
    serving = threading.Thread(target=host.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{host.server_port}"
    finally:
        host.shutdown()
        host.server_close()


def first_view(browser: Browser, address: str) -> FirstView:
    """Looks at an address in a context of its own, so that nothing is in a cache."""
    watched = Watched(browser, address)
    told = watched.context.new_cdp_session(watched.page)
    told.send("Network.enable")
    told.send("Performance.enable")
    lengths: list[float] = []
    told.on("Network.loadingFinished", lambda done: lengths.append(done["encodedDataLength"]))
    watched.page.goto(address, wait_until="networkidle")
    loaded = watched.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1e3
    used = {one["name"]: one["value"] for one in told.send("Performance.getMetrics")["metrics"]}
    watched.context.close()
    return FirstView(
        round(sum(lengths)), len(lengths), loaded, used["ProcessTime"], tuple(watched.errors), tuple(watched.outside)
    )
