"""The report in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watched, chromium
from charts import check_charts, drag, labels_across, places_of, readings
from nightly import HOSTILE, nightly_runs, rich_runs
from playwright.sync_api import Browser, Locator
from session_factory import START, MadeRun, make_session
from weight_metrics import weight_metrics

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
@pytest.mark.parametrize("size", ["desktop", "phone", "small phone"])
def test_shown_without_error_request_or_sideways_scrolling(
    browser: Browser, report: Path, size: str, scheme: str
) -> None:
    watched = opened(browser, report, size, scheme)
    page = watched.page
    assert check_charts(page) >= 10
    assert (watched.errors, watched.outside, watched.dialogs) == ([], [], [])
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    watched.context.close()


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("small phone", "dark")])
def test_weight_stores_are_shown_without_error_or_sideways_scrolling(
    browser: Browser, tmp_path: Path, size: str, scheme: str
) -> None:
    watched = opened(
        browser, write_report(make_session(tmp_path, [MadeRun("weights", weight_metrics())])), size, scheme
    )
    page = watched.page
    assert (watched.errors, watched.outside) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
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


def test_what_failed_and_regressed_is_on_the_first_screen(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:")
    page = watched.page
    page.goto(report.as_uri())
    assert (
        page.locator(".answer")
        .inner_text()
        .startswith("✕ 2 entries failed, 1 missed a requirement, 1 skipped, 1 regressed")
    )
    cards = page.locator("article.card")
    assert [name.split()[0] for name in cards.locator("h2").all_inner_texts()] == ["train", "slow", "minhash", "alm"]
    for card in cards.all():
        box = card.bounding_box()
        assert box
        assert box["y"] < 900
    assert "regressed" in page.locator("section[aria-labelledby=changed] tbody tr").first.inner_text()
    watched.context.close()


def test_a_table_is_sorted_by_its_columns(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    table = watched.page.locator("table.entries")
    head = table.get_by_role("button", name="Time")
    times = "rows => rows.map(row => Number(row.querySelector('[data-label=Time]').dataset.sort))"
    for presses, order in ((1, "ascending"), (2, "descending")):
        head.focus()
        watched.page.keyboard.press("Enter" if presses == 1 else " ")
        assert table.locator("th[aria-sort]").get_attribute("aria-sort") == order
        found = table.locator("tbody tr").evaluate_all(times)
        assert found == sorted(found, reverse=order == "descending")
        assert len(set(found)) > 3
    table.get_by_role("button", name="Entry").click()
    names = table.locator("tbody th").all_inner_texts()
    assert names == sorted(names, key=str.lower)
    assert table.locator("th[aria-sort]").count() == 1
    watched.context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_click_opens_an_entry_and_what_is_folded_takes_no_room(browser: Browser, report: Path, scripts: bool) -> None:
    watched = Watched(browser, "file:", scripts=scripts)
    page = watched.page
    page.goto(report.as_uri())
    entry = page.locator("details.entry", has=page.get_by_role("heading", name="weights", include_hidden=True))
    box = entry.bounding_box()
    assert box is None or box["height"] < 2
    page.locator("table.entries").get_by_role("link", name="weights").click()
    entry.locator("pre.command").wait_for(state="visible")
    assert "python weights.py" in entry.locator("pre.command").inner_text()
    watched.context.close()


def test_a_table_that_is_too_wide_says_so_and_is_printed_whole(browser: Browser, tmp_path: Path) -> None:
    columns = {f"a_rather_long_name_{n}": n * 1000.5 for n in range(16)}
    path = write_report(make_session(tmp_path, [MadeRun("wide", {"rows": [columns, columns]}), MadeRun("other")]))
    watched = opened(browser, path)
    box = watched.page.locator(".scroll:has(th:text('a_rather_long_name_15'))")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert "scroll sideways" in box.evaluate("box => getComputedStyle(box, '::before').content")
    watched.page.emulate_media(media="print")
    watched.page.set_viewport_size({"width": 703, "height": 900})
    over = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert watched.page.evaluate(over) <= 0
    last = box.locator("th").last.bounding_box()
    assert last
    assert last["x"] + last["width"] <= 703
    watched.context.close()


def test_the_keyboard_finds_and_unfolds(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:")
    page = watched.page
    page.goto(report.as_uri())
    page.keyboard.press("/")
    page.keyboard.type("weigh")
    assert page.locator("tbody tr[data-name]:visible").count() == 1
    page.locator("tbody tr[data-name]:visible a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#entry-*")
    assert page.locator("details.entry[open]:visible h3").inner_text() == "weights"
    watched.context.close()


def test_what_is_folded_is_printed(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:")
    watched.page.goto(report.as_uri())
    assert watched.page.locator("details.entry:not([open])").count() > 0
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert watched.page.locator("details.entry:not([open])").count() == 0
    watched.context.close()


def test_what_is_folded_is_printed_without_scripts_too(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:", scripts=False)
    watched.page.goto(report.as_uri())
    watched.page.emulate_media(media="print")
    for entry in watched.page.locator("details.entry:not([open])").all():
        box = entry.bounding_box()
        assert box
        assert box["height"] > 100
    watched.context.close()


def sweep(watched: Watched) -> Locator:
    """Latency against load, at 500, 1000, 2000, 3000, 4000, 5000 and 6000 a second."""
    chart = watched.page.locator("figure.plot", has_text="sweep").first
    chart.scroll_into_view_if_needed()
    return chart


def test_values_under_the_pointer_are_told_exactly(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    chart = sweep(watched)
    assert readings(chart) == []
    box = places_of(chart)
    at_2000 = box["x"] + box["width"] * (2000 - 500) / 5500
    watched.page.mouse.move(at_2000 + 5, box["y"] + 20)
    p50, p95, p99 = 1.9 + 2000 / 9000, 4 + (2000 / 2400) ** 3, 6.5 + (2000 / 2100) ** 4
    assert readings(chart) == [repr(p50), repr(p95), repr(p99), "2000"]
    pointer = chart.locator(".pointer").bounding_box()
    assert pointer
    assert pointer["x"] == pytest.approx(at_2000, abs=1.5)
    watched.page.mouse.move(box["x"] - 200, box["y"] - 20)
    assert readings(chart) == []
    watched.context.close()


def test_a_line_that_never_changes_is_told_as_well(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    chart = watched.page.locator("details.entry", has_text="sweep").locator("figure.plot", has_text="Disk")
    chart.locator("svg").hover()
    read, written, _ = readings(chart)
    assert (read, written) == ("2.72", "0.907")
    watched.context.close()


def test_a_legend_is_printed_in_its_colours(browser: Browser, report: Path) -> None:
    """Backgrounds are left out when a page is printed; borders are not."""
    watched = opened(browser, report)
    watched.page.emulate_media(media="print")
    shown = (
        sweep(watched)
        .locator("p span")
        .evaluate_all("spans => spans.map(span => getComputedStyle(span, '::before').borderTopColor)")
    )
    drawn = (
        sweep(watched)
        .locator("svg g path:not(.dots)")
        .evaluate_all("paths => paths.map(path => getComputedStyle(path).stroke)")
    )
    assert shown[:3] == drawn
    assert len(set(drawn)) == 3
    watched.context.close()


def test_a_chart_is_looked_at_closer_and_whole_again(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    page, chart = watched.page, sweep(watched)
    svg, whole, box = chart.locator("svg"), labels_across(chart), places_of(chart)
    assert whole == ["2,000", "4,000", "6,000"]
    for reset in ("double click", "Escape"):
        drag(page, box, 0.5, 0.8)
        start, _, width, _ = (float(n) for n in (svg.get_attribute("viewBox") or "").split())
        assert (start, width) == pytest.approx((500, 300), abs=5)
        closer = [int(label.replace(",", "")) for label in labels_across(chart)]
        assert len(closer) >= 2
        assert all(3250 - 50 <= rate <= 4900 + 50 for rate in closer)
        page.mouse.move(box["x"] + box["width"] * (4000 - 3250) / 1650, box["y"] + 20)
        assert readings(chart)[-1] == "4000"
        if reset == "Escape":
            page.keyboard.press("Escape")
        else:
            page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 20)
        assert svg.get_attribute("viewBox") == "0 0 1000 1000"
        assert labels_across(chart) == whole
    assert watched.errors == []
    watched.context.close()


def test_a_chart_is_read_by_keyboard_and_aloud(browser: Browser, report: Path) -> None:
    watched = opened(browser, report)
    page, chart = watched.page, sweep(watched)
    chart.focus()
    page.keyboard.press("ArrowRight")
    legend = chart.locator(".line-chart p")
    assert (legend.get_attribute("aria-live"), legend.get_attribute("aria-atomic")) == ("polite", "true")
    assert readings(chart)[-1] == "500"
    page.keyboard.press("ArrowRight")
    assert readings(chart)[-1] == "1000"
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert readings(chart)[-1] == "5000"
    page.keyboard.press("+")
    assert chart.locator("svg").get_attribute("viewBox") != "0 0 1000 1000"
    page.keyboard.press("Home")
    assert readings(chart)[-1] == "500"
    page.keyboard.press("Escape")
    assert (readings(chart), chart.locator("svg").get_attribute("viewBox")) == ([], "0 0 1000 1000")
    assert watched.errors == []
    watched.context.close()


def test_without_scripts_the_lines_are_seen(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "file:", scripts=False)
    watched.page.emulate_media(reduced_motion="reduce")
    watched.page.goto(report.as_uri())
    for link in watched.page.locator("table.entries th a").all():
        link.click()
    assert check_charts(watched.page) >= 10
    assert watched.page.locator("figure.plot[tabindex]").count() == 0
    watched.context.close()
