"""The dashboard as files: all links lead to files that are there, and nothing leads to another host."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from dashboard_demo import demo_nights
from history_rows import fill
from nightly import HOSTILE
from session_factory import MadeRun, make_session
from starlette.testclient import TestClient

from assay.cli.main import main
from assay.history import History
from assay.server.app import STATIC, dashboard
from assay.server.home_page import ROWS
from assay.server.trend_charts import SHOWN

_LINK = re.compile(r'(?:href|src|action)="([^"]*)"')


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    demo_nights(folder, nights=12)
    hostile = make_session(folder, [MadeRun(HOSTILE, {"x": 1.0}, folder="hostile")], name="hostile")
    with History.beside(folder) as history:
        history.add_session(hostile)
    return folder


@pytest.fixture(scope="module")
def site(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "deep" / "below"
    assert main(["publish", str(folder), "--results-dir", str(results), "--sessions", "4"]) == 0
    return folder


def test_every_link_is_relative_and_leads_to_a_file(site: Path) -> None:
    pages = sorted(site.glob("*.html"))
    assert {"index.html", "sessions.html", "entries.html", "compare.html"} <= {page.name for page in pages}
    assert len([page for page in pages if page.name.startswith("session-")]) == 4
    for page in pages:
        text = page.read_text()
        assert "not-published" not in text
        for link in _LINK.findall(text):
            split = urlsplit(link)
            if split.scheme == "data" or not split.path:
                continue
            assert (split.scheme, split.netloc) == ("", ""), link
            assert (site / unquote(split.path)).is_file(), f"{page.name}: {link}"


def test_what_failed_leads_to_its_entry(site: Path) -> None:
    text = (site / "index.html").read_text()
    failed = re.search(r'✕ failed</span> <a class="strong" href="(entry-\d+\.html)">removal_ray</a>', text)
    assert failed
    assert "removal_ray" in (site / failed[1]).read_text()


def test_what_programs_say_is_text(site: Path) -> None:
    assert not [page for page in site.glob("*.html") if "<script>alert" in page.read_text()]


def test_nothing_of_it_needs_a_server(site: Path) -> None:
    for page in site.glob("*.html"):
        text = page.read_text()
        assert "/acknowledge" not in text
        assert "/live" not in text.replace("static/live.js", "")
        assert "Content-Security-Policy" in text


def test_it_is_written_anew_into_its_own_folder_only(
    results: Path, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", str(site), "--results-dir", str(results), "--sessions", "1"]) == 0
    (tmp_path / "mine.txt").write_text("kept")
    assert main(["publish", str(tmp_path), "--results-dir", str(results)]) == 2
    assert "did not write" in capsys.readouterr().err
    assert main(["publish", str(tmp_path / "mine.txt"), "--results-dir", str(results)]) == 2
    assert main(["publish", str(tmp_path / "new"), "--results-dir", str(tmp_path / "nowhere")]) == 2


def test_a_folder_without_a_history_has_a_page_too(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert main(["publish", str(tmp_path / "site"), "--results-dir", str(tmp_path / "results")]) == 0
    assert "Nothing has been recorded yet" in (tmp_path / "site" / "index.html").read_text()


def test_a_full_grid_of_long_trends_is_under_a_megabyte(tmp_path: Path) -> None:
    """A hundred rows of seven metrics, each over as many sessions as a spark line shows; others are in other files."""
    with History.beside(tmp_path) as history:
        fill(history, sessions=SHOWN, entries=8, metrics=6)
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    columns = "&".join(f"metric=metric_{number:02}" for number in range(6)) + "&metric=exec_time_s"
    whole, without_rows = (len(client.get(f"/?{columns}{name}").content) for name in ("", "&name=no-such-entry"))
    static = sum(source.stat().st_size for source, _ in STATIC.values())
    assert client.get(f"/?{columns}").text.count('class="trend"') == 8 * 7
    assert without_rows + (whole - without_rows) / 8 * ROWS + static < 1_000_000
