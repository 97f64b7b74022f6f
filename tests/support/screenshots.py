"""`make screenshots`: the pictures in the docs, from made sessions, to be made again when a page changes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from browser import Watched, chromium
from colocation_file import made_matrix, made_together, write_colocation
from dashboard_data import many_nights
from nightly import HOSTILE, nightly_runs, rich_runs
from playwright.sync_api import Browser
from session_factory import START, make_session

from assay.history import History
from assay.report.colocation_page import write_colocation_page
from assay.report.html import write_report

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LAST = "nightly-run__2026-03-25__02-00-00"


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        _report(browser, Path(folder) / "report")
        _dashboard(browser, Path(folder) / "dashboard")
        _colocation(browser, Path(folder) / "colocation")


def _report(browser: Browser, results: Path) -> None:
    runs = [run for run in [*nightly_runs(1.12), *rich_runs()] if run.entry != HOSTILE]
    before = [run for run in nightly_runs(1.0, 3) if run.entry != HOSTILE]
    earlier = make_session(results, before, name="nightly-run__2026-02-28__02-00-00", started=START - timedelta(days=1))
    folder = make_session(results, runs)
    with History.beside(results) as history:
        history.add_session(earlier)
        address = write_report(folder, history=history).as_uri()
    for size, scheme in (("desktop", "light"), ("desktop", "dark"), ("phone", "light")):
        _take(browser, address, size, scheme, f"report-{size}-{scheme}")
    anchor = f"entry-{[*dict.fromkeys(run.entry for run in runs)].index('serving') + 1}"
    _take(browser, f"{address}#{anchor}", "desktop", "light", "report-entry", part=f"#{anchor}")


def _dashboard(browser: Browser, results: Path) -> None:
    many_nights(results)
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--results-dir", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as serving:
        assert serving.stdout
        address = serving.stdout.readline().strip().rstrip("/")
        _take(browser, address + "/series?id=1", "desktop", "light", "dashboard-desktop-light")
        _take(browser, address + "/", "desktop", "dark", "dashboard-desktop-dark")
        _take(browser, address + f"/session?name={LAST}", "phone", "light", "dashboard-phone-light")
        serving.terminate()


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
