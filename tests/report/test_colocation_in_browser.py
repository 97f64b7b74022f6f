"""The page of a colocation in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watched, chromium
from charts import check_charts
from colocation_file import made_matrix, made_rates, made_together, write_colocation
from playwright.sync_api import Browser
from session_factory import MadeRun, make_session

from assay.report.html import write_colocation_page, write_report

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]
LONG = "training of a model with a name that is much longer/than anybody-would_write"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("colocations")
    slower = {("api", LONG): 1.6, ("api", "api"): 0.7}
    files = {
        "matrix": made_matrix(("api", LONG), slower, rounds=1),
        "policy": made_together(("api", "batch"), policy="latency_first"),
        "rates": made_rates("api", (50, 100, 200, 300, 440), peak=200),
    }
    for name, written in files.items():
        write_colocation(folder / name, written)
    made = {name: write_colocation_page(folder / name) for name in files}
    session = make_session(folder / "results", [MadeRun("pipelines"), MadeRun("other")])
    write_colocation(session.path / "pipelines" / "benchmark_results", files["matrix"])
    return {**made, "session": write_report(session)}


def opened(browser: Browser, page: Path, size: str = "desktop", scheme: str = "light", **more: bool) -> Watched:
    watched = Watched(browser, "file:", size, scheme, **more)
    watched.page.goto(page.as_uri())
    return watched


@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    [
        ("matrix", "desktop", "light"), ("matrix", "small phone", "dark"), ("policy", "phone", "dark"),
        ("policy", "desktop", "dark"), ("rates", "small phone", "light"), ("session", "phone", "light"),
    ],
)  # fmt: skip
def test_shown_without_error_request_or_sideways_scrolling(
    browser: Browser, pages: dict[str, Path], name: str, size: str, scheme: str
) -> None:
    watched = opened(browser, pages[name], size, scheme)
    page = watched.page
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    if name in ("policy", "rates"):
        assert check_charts(page) >= 2
    assert (watched.errors, watched.outside, watched.dialogs) == ([], [], [])
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    watched.context.close()


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("name", ["matrix", "session"])
def test_a_cell_opens_the_stages_of_both_also_without_scripts(
    browser: Browser, pages: dict[str, Path], name: str, scripts: bool
) -> None:
    watched = opened(browser, pages[name], scripts=scripts)
    page = watched.page
    if name == "session":
        page.locator("table.entries").get_by_role("link", name="pipelines").click()
    cell = page.locator(f"table.map a[aria-label^='{LONG} beside api, p99']")
    cell.focus()
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="Stages of api", exact=True)
    heading.locator("visible=true").wait_for()
    assert page.get_by_role("heading", name=f"Stages of {LONG}", exact=True).locator("visible=true").count() == 1
    assert page.locator("details.group[open]").count() == 1
    watched.context.close()


def test_what_cannot_be_told_is_grey_and_what_is_slower_is_red(browser: Browser, pages: dict[str, Path]) -> None:
    watched = opened(browser, pages["matrix"])
    colours = (
        watched.page.locator("table.map")
        .first.locator("tbody td")
        .evaluate_all("cells => cells.map(cell => [cell.className, getComputedStyle(cell).backgroundColor])")
    )
    by_tone: dict[str, set[str]] = {}
    for tone, colour in colours:
        by_tone.setdefault(tone, set()).add(colour)
    assert by_tone["unsure"] == {"rgb(236, 239, 243)"}
    assert all(colour.startswith("rgba(192, 40, 28") for colour in by_tone["slower"])
    assert all(colour.startswith("rgba(19, 130, 80") for colour in by_tone["faster"])
    watched.context.close()


def test_on_the_time_line_bars_lie_in_their_lane_and_the_overlap_where_both_ran(
    browser: Browser, pages: dict[str, Path]
) -> None:
    watched = opened(browser, pages["policy"])
    area = watched.page.locator(".lanes .area")
    box = area.bounding_box()
    overlap = area.locator("rect.overlap").bounding_box()
    held = area.locator("rect.held").bounding_box()
    assert box
    assert overlap
    assert held
    # All ran from 0.05 to 8 s of 8.6, and the second was held from 2.5 to 4.
    places = [(part["x"] - box["x"]) / box["width"] for part in (overlap, held)]
    widths = [part["width"] / box["width"] for part in (overlap, held)]
    assert places == pytest.approx([0.05 / 8.6, 2.5 / 8.6], abs=0.01)
    assert widths == pytest.approx([7.95 / 8.6, 1.5 / 8.6], abs=0.01)
    names = [label.bounding_box() for label in area.locator(".names b").all()]
    assert len(names) == 2
    assert names[0]
    assert names[1]
    assert held["y"] > names[1]["y"] > names[0]["y"]
    assert area.locator("path.decision").count() == 4
    watched.context.close()
