"""Debian's Chromium for tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

EXECUTABLE = "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SIZES = {
    "desktop": {"width": 1280, "height": 900},
    "phone": {"width": 390, "height": 844},
    "small phone": {"width": 320, "height": 640},
}


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=list(FLAGS))
        yield browser
        browser.close()


class Watched:
    """A page, and what went wrong on it: errors on the console, and requests to anywhere but `own`."""

    def __init__(
        self, browser: Browser, own: str, size: str = "desktop", scheme: str = "light", scripts: bool = True
    ) -> None:
        self.context = browser.new_context(viewport=SIZES[size], color_scheme=scheme, java_script_enabled=scripts)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        # Generous, because a busy machine is no defect of the page.
        self.page.set_default_timeout(90_000)
        self.errors: list[str] = []
        self.outside: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._requested(request.url, own))
        self.page.on("dialog", self._dialog)

    def _requested(self, address: str, own: str) -> None:
        if not address.startswith((own, "data:", "blob:")):
            self.outside.append(address)

    def _dialog(self, dialog: object) -> None:
        self.dialogs.append(str(dialog))
        dialog.dismiss()  # type: ignore[attr-defined]
