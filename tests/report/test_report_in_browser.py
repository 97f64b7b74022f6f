"""The report in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watched, chromium
from nightly import HOSTILE, nightly_runs, rich_runs
from playwright.sync_api import Browser
from session_factory import START, make_session

from assay.history import History
from assay.report.html import write_report

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    before = make_session(results, nightly_runs(1.0, 3), name="before", started=START - timedelta(days=1))
    folder = make_session(results, [*nightly_runs(1.12), *rich_runs()])
    with History.beside(results) as history:
        history.add_session(before)
        return write_report(folder, history=history)


def opened(browser: Browser, report: Path, size: str = "desktop", scheme: str = "light") -> Watched:
    watched = Watched(browser, "file:", size, scheme)
    watched.page.goto(report.as_uri())
    watched.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    return watched


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_shown_without_error_request_or_sideways_scrolling(
    browser: Browser, report: Path, size: str, scheme: str
) -> None:
    watched = opened(browser, report, size, scheme)
    page = watched.page
    for figure in page.locator("figure.plot").all():
        figure.scroll_into_view_if_needed()
    page.wait_for_function(
        "document.querySelectorAll('.canvas canvas').length == document.querySelectorAll('.plot').length"
    )
    assert page.locator("figure.plot").count() >= 10
    assert (watched.errors, watched.outside, watched.dialogs) == ([], [], [])
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    watched.context.close()


def test_hostile_names_are_text(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    heading = watched.page.get_by_role("heading", name=HOSTILE, exact=True)
    assert heading.inner_text() == HOSTILE
    assert watched.page.locator("img").count() == 0
    assert watched.dialogs == []
    watched.context.close()


def test_what_regressed_is_first(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    assert watched.page.locator("details.entry h3").first.inner_text() == "alm"
    first = watched.page.locator("section[aria-labelledby=changed] tbody tr").first
    assert "regressed" in first.inner_text()
    watched.context.close()


def test_the_keyboard_finds_and_unfolds(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:")
    page = watched.page
    page.goto(report.as_uri())
    page.keyboard.press("/")
    page.keyboard.type("weigh")
    assert page.locator("tbody tr[data-name]:visible").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.startsWith('#entry-')")
    assert page.locator("details.entry[open]:visible h3").inner_text() == "weights"
    watched.context.close()


def test_what_is_folded_is_printed(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:")
    watched.page.goto(report.as_uri())
    assert watched.page.locator("details.entry:not([open])").count() > 0
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert watched.page.locator("details.entry:not([open])").count() == 0
    watched.context.close()
