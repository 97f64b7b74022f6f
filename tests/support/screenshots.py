"""`make screenshots`: the pictures in the docs, from made sessions, to be made again when a page changes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import Watched, chromium
from colocation_file import made_matrix, made_together, write_colocation
from dashboard_demo import demo_nights, demo_running
from many_nights import fifty_entries, two_entries
from nightly import rich_runs
from playwright.sync_api import Browser
from session_factory import MadeRun, make_session
from static_host import static_host
from terminal_pictures import take_terminal_pictures
from weight_metrics import weight_metrics

from assay.history import History
from assay.report.html import write_colocation_page, write_report

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        _report(browser, Path(folder) / "report")
        _dashboard(browser, Path(folder) / "dashboard")
        _colocation(browser, Path(folder) / "colocation")
        take_terminal_pictures(browser, IMAGES)


def _report(browser: Browser, results: Path) -> None:
    two, fifty = two_entries(results / "two"), fifty_entries(results / "fifty")
    for nights, name in ((two, "report-two"), (fifty, "report")):
        with History.beside(nights.history) as history:
            address = write_report(nights.folder, history=history).as_uri()
        _take(browser, address, "desktop", "light", f"{name}-desktop-light")
    _take(browser, address, "desktop", "dark", "report-desktop-dark")
    _take(browser, address, "phone", "light", "report-phone-light")
    _take(browser, address, "desktop", "light", "report-table", part="table.entries", high=900)
    _printed(browser, address, "report-print")
    rich = make_session(results, rich_runs())
    anchor = f"entry-{[run.entry for run in rich_runs()].index('serving') + 1}"
    address = write_report(rich).as_uri()
    _take(browser, f"{address}#{anchor}", "desktop", "light", "report-entry", part=f"details.entry:has(#{anchor})")
    weights = make_session(results / "weights", [MadeRun("weights", weight_metrics())])
    part = "details.entry .body"
    _take(browser, write_report(weights).as_uri(), "desktop", "light", "report-weights", part=part, high=1250)


def _printed(browser: Browser, address: str, name: str) -> None:
    """The first sheet of A4 with margins of 12 mm, as it is laid out for paper."""
    watched = Watched(browser, address)
    watched.page.set_viewport_size({"width": 703, "height": 1032})
    watched.page.goto(address)
    watched.page.emulate_media(media="print")
    watched.page.screenshot(path=str(IMAGES / f"{name}.png"))
    watched.context.close()


def _dashboard(browser: Browser, results: Path) -> None:
    results.mkdir(parents=True)
    last = demo_nights(results)
    running = demo_running(results)
    with History.beside(results, read_only=True) as history:
        [series] = history.series(entry="alm_xenna", metric="rows_per_s")
        older = [row.name for row in history.sessions(limit=40)][10::14]
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--results-dir", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as serving:
        assert serving.stdout
        address = serving.stdout.readline().strip().rstrip("/")
        compared = "".join(f"&with={name}" for name in (*older, last))
        _take(browser, address + "/", "desktop", "light", "dashboard-home")
        _take(browser, address + f"/session?name={running.path.name}", "desktop", "light", "dashboard-live")
        _take(browser, address + f"/compare?{compared[1:]}", "desktop", "light", "dashboard-compare")
        _take(browser, address + f"/series?id={series.id}", "desktop", "light", "dashboard-series")
        serving.terminate()
    site = results.parent / "site"
    publish = [sys.executable, "-m", "assay", "publish", str(site), "--results-dir", str(results)]
    subprocess.run(publish, check=True, env=os.environ)
    with static_host(site) as address:
        _take(browser, f"{address}/index.html", "phone", "dark", "dashboard-published")


def _colocation(browser: Browser, folder: Path) -> None:
    slower = {("service", "finetune"): 1.9, ("service", "service"): 1.4, ("finetune", "service"): 1.2}
    write_colocation(
        folder, {**made_matrix(("service", "finetune", "vision"), slower, rounds=3), "name": "three_pipelines"}
    )
    address = write_colocation_page(folder).as_uri()
    _take(browser, address, "desktop", "light", "colocation-desktop-light")
    _take(browser, f"{address}#group-1", "desktop", "dark", "colocation-stages", part="details.group[open]", high=780)
    write_colocation(folder / "policy", made_together(("service", "finetune"), policy="latency_first"))
    address = write_colocation_page(folder / "policy").as_uri()
    _take(browser, address, "desktop", "light", "colocation-time-line", part="figure:has(.lanes)")


def _take(
    browser: Browser, address: str, size: str, scheme: str, name: str, part: str | None = None, high: int | None = None
) -> None:
    """`high`: of a part that goes on, so many pixels from its top."""
    watched = Watched(browser, address, size, scheme)
    watched.page.goto(address)
    watched.page.wait_for_timeout(800)
    for figure in watched.page.locator(f"{part} figure.plot").all() if part else ():
        figure.scroll_into_view_if_needed()
        figure.locator("svg").wait_for()
    path = str(IMAGES / f"{name}.png")
    box = watched.page.locator(part).bounding_box() if part and high else None
    if box:
        top = box["y"] + watched.page.evaluate("scrollY")
        cut = {"x": box["x"], "y": top, "width": box["width"], "height": float(high or 0)}
        watched.page.screenshot(path=path, full_page=True, clip=cut)  # type: ignore[arg-type]
    else:
        (watched.page.locator(part) if part else watched.page).screenshot(path=path)
    watched.context.close()
    print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
