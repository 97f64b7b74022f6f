"""The dashboard in a real Chromium, served by the command a user types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watched, chromium
from charts import check_charts, drag, labels_across, places_of, readings
from dashboard_data import many_nights, running_session
from nightly import HOSTILE
from playwright.sync_api import Browser, Page
from session_factory import START, MadeRun, made_record
from static_host import first_view, static_host

from assay.record.results_file import append_record

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]
FIRST, LAST = "nightly-run__2026-03-10__02-00-00", "nightly-run__2026-03-25__02-00-00"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    many_nights(folder)
    return folder


@pytest.fixture(scope="module")
def server(results: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--results-dir", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as serving:
        assert serving.stdout
        yield serving.stdout.readline().strip().rstrip("/")
        serving.terminate()


PAGES = {
    "home": "/",
    "filtered": "/?name=alm&metric=rows_per_s&metric=exec_time_s",
    "sessions": "/sessions",
    "session": f"/session?name={LAST}",
    "session entry": f"/session/entry?session={LAST}&entry=serving",
    "entries": "/entries",
    "entry": "/entry?name=alm",
    "series": "/series?id=1",
    "runs": "/runs?entry=alm",
    "compare": f"/compare?base=nightly-run__2026-03-24__02-00-00&head={LAST}",
    "three compared": f"/compare?base={FIRST}&with=nightly-run__2026-03-24__02-00-00&with={LAST}",
    "nothing": "/session?name=nothing",
}
CHARTS = {"session entry": 4, "series": 1}


@pytest.mark.parametrize("name", PAGES)
def test_each_page_light_and_dark_wide_and_narrow(browser: Browser, server: str, name: str) -> None:
    for size, scheme in (("desktop", "light"), ("phone", "dark"), ("small phone", "light")):
        watched = Watched(browser, server, size, scheme)
        page = watched.page
        page.goto(server + PAGES[name])
        assert check_charts(page) == CHARTS.get(name, 0)
        errors = [error for error in watched.errors if not (name == "nothing" and "404" in error)]
        assert (errors, watched.outside, watched.dialogs) == ([], [], [])
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        watched.context.close()


def test_hostile_names_are_text_and_can_be_followed(browser: Browser, server: str) -> None:
    watched = Watched(browser, server)
    page = watched.page
    page.goto(server + "/entries")
    page.get_by_role("link", name=HOSTILE, exact=True).click()
    assert page.locator("h1").inner_text() == HOSTILE
    page.get_by_role("link", name="x", exact=True).click()
    assert check_charts(page) == 1
    assert (watched.errors, watched.dialogs) == ([], [])
    watched.context.close()


def test_a_series_tells_the_night_and_is_looked_at_closer(browser: Browser, server: str) -> None:
    watched = Watched(browser, server)
    page = watched.page
    page.goto(server + "/series?id=1")
    chart = page.locator("figure.plot")
    assert "drag to look closer" in chart.inner_text()
    box, whole = places_of(chart), labels_across(chart)
    assert whole == ["2 Mar 2026", "9 Mar", "16 Mar", "23 Mar"]
    values = page.evaluate("JSON.parse(document.getElementById('plots').textContent)[0].lines[0]")
    page.mouse.move(box["x"] + 1, box["y"] + 20)
    assert readings(chart) == [repr(values[0]), "2026-03-01 02:00:00"]
    drag(page, box, 0.1, 0.2)
    closer = labels_across(chart)
    assert len(closer) >= 2
    assert all(re.search(r"^(\d\d:\d\d )?[3-6] Mar( 2026)?$", label) for label in closer), closer
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 20)
    assert labels_across(chart) == whole
    assert watched.errors == []
    watched.context.close()


def test_a_filter_is_in_the_address(browser: Browser, server: str) -> None:
    watched = Watched(browser, server)
    page = watched.page
    page.goto(server + "/runs")
    page.get_by_label("Entry").fill("alm")
    page.get_by_label("Outcome").select_option("passed")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile(r"entry=alm.*outcome=passed"))
    shown = page.locator("tbody tr th a").all_inner_texts()
    assert shown
    assert set(shown) == {"alm"}
    watched.context.close()


def test_a_running_session_is_followed(browser: Browser, server: str, results: Path) -> None:
    folder = running_session(results)
    watched = Watched(browser, server)
    page = watched.page
    page.goto(server + "/session?name=running-now")
    page.get_by_text("epoch 1").wait_for()
    assert "1 of 2 entries have ended" in page.locator("main").inner_text()
    with (folder.path / "second" / "stdouterr.log").open("a") as log:
        log.write("epoch 2 <b>bold</b>\n")
    page.get_by_text("epoch 2 <b>bold</b>").wait_for()
    append_record(folder.results, made_record(MadeRun("second", {"x": 2.0}), "running-now", START))
    folder.write_info(replace(folder.info(), status="finished", finished_at=START.isoformat()))
    page.get_by_text("all passed").wait_for()
    assert page.locator("[data-log]").count() == 0
    assert (watched.errors, watched.outside) == ([], [])
    watched.context.close()


def test_two_sessions_of_a_series_are_chosen_and_what_lies_between_is_told(browser: Browser, server: str) -> None:
    watched = Watched(browser, server)
    page = watched.page
    page.goto(server + "/series?id=1")
    box = page.locator(".line-chart .area").bounding_box()
    assert box
    for share in (0.3, 0.7):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + 40)
        page.mouse.click(box["x"] + box["width"] * share, box["y"] + 40)
    page.get_by_text("commits measured after the first, up to the second").wait_for()
    assert page.locator("#selection a[href^='/session?name=']").count() == 2
    address = page.url
    assert "from=" in address
    assert "to=" in address
    page.goto(address)
    page.get_by_text("commits measured after the first, up to the second").wait_for()
    assert watched.errors == []
    watched.context.close()


def _accessible(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.fixture(scope="module")
def published(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a published site, on a plain web host, under a path of its own."""
    root = tmp_path_factory.mktemp("host")
    site = root / "bench" / "assay"
    publish = [sys.executable, "-m", "assay", "publish", str(site), "--results-dir", str(results), "--sessions", "3"]
    subprocess.run(publish, check=True, stdout=subprocess.DEVNULL)
    with static_host(root) as address:
        yield f"{address}/bench/assay"


def test_a_published_site_is_looked_at_without_a_server(browser: Browser, published: str) -> None:
    for size, scheme in (("desktop", "light"), ("phone", "dark")):
        watched = Watched(browser, published, size, scheme)
        page = watched.page
        page.goto(published + "/index.html?name=alm")
        page.locator("#grid-count").get_by_text("1 of").wait_for()
        assert page.locator("#grid tbody tr:visible").count() == 1
        page.get_by_label("Name or tag").fill("")
        page.wait_for_url(re.compile(r"index\.html$"))
        assert page.locator("#grid tbody tr:visible").count() > 5
        _accessible(page)
        page.locator("#grid a.cell").first.click()
        page.locator("figure.series").wait_for()
        _accessible(page)
        assert (watched.errors, watched.outside) == ([], [])
        watched.context.close()


def test_every_kind_of_published_page_is_accessible_and_asks_no_other_host(browser: Browser, published: str) -> None:
    watched = Watched(browser, published)
    for name in ("index", "sessions", "entries", "session-1", "compare", "entry-1", "entry-2", "series-1"):
        watched.page.goto(f"{published}/{name}.html")
        _accessible(watched.page)
    assert (watched.errors, watched.outside) == ([], [])
    watched.context.close()


def test_the_first_view_of_a_published_site_is_small(browser: Browser, published: str) -> None:
    seen = first_view(browser, published + "/")
    assert (seen.errors, seen.outside) == ((), ())
    # The page, its sheets and scripts, and the icon that a browser asks for unasked.
    assert seen.requests <= 16
    assert seen.bytes < 300_000
