from __future__ import annotations

import re
from pathlib import Path

import pytest
from dashboard_data import many_nights, running_session
from nightly import HOSTILE
from session_factory import MadeRun, make_session
from starlette.testclient import TestClient

from assay.cli.main import main
from assay.history import History
from assay.report.page_templates import templates
from assay.server.app import PAGES, dashboard

LAST = "nightly-run__2026-03-25__02-00-00"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    many_nights(folder)
    return folder


@pytest.fixture(scope="module")
def client(results: Path) -> TestClient:
    return TestClient(dashboard(results), base_url="http://127.0.0.1")


def test_sessions_newest_first_and_filtered_by_the_address(client: TestClient) -> None:
    everything = client.get("/sessions").text
    assert everything.index(LAST) < everything.index("nightly-run__2026-03-24__02-00-00")
    only = client.get("/sessions", params={"entry": "weights"}).text
    assert LAST in only
    assert "nightly-run__2026-03-24" not in only
    by_commit = client.get("/", params={"commit": "1010"}).text  # where the list was before there was a first screen
    assert "nightly-run__2026-03-01" in by_commit
    assert LAST not in by_commit
    by_text = client.get("/sessions", params={"text": "2026-03-1"}).text
    assert "nightly-run__2026-03-19" in by_text
    assert LAST not in by_text


def test_what_is_asked_stays_in_the_links(client: TestClient) -> None:
    text = client.get("/runs", params={"entry": "alm"}).text
    assert 'href="/runs?entry=alm&amp;page=1"' not in text
    many = client.get("/runs").text
    assert 'rel="next" href="/runs?page=1"' in many
    second = client.get("/runs", params={"page": "1"}).text
    assert 'rel="prev" href="/runs"' in second


def test_a_series_shows_its_change_point(client: TestClient, results: Path) -> None:
    with History.beside(results, read_only=True) as history:
        [series] = history.series(entry="alm", metric="rows_per_s")
    text = client.get("/series", params={"id": series.id}).text
    assert "1 change point, dashed" in text
    assert "regressed" in text
    assert "nightly-run__2026-03-17" in text
    assert re.search(r"at commit \w+ \(before it: \w+\)|between \w+ and \w+: \d+ commits? measured", text)


def test_any_two_are_compared(client: TestClient, results: Path) -> None:
    with History.beside(results, read_only=True) as history:
        head, base = (run.run_id for run in history.runs(entry="alm", limit=2))
    runs = client.get("/compare", params={"base": base, "head": head}).text
    assert "All that the two runs say" in runs
    assert "Verdicts" in runs
    sessions = client.get("/compare", params={"base": "nightly-run__2026-03-24__02-00-00", "head": LAST}).text
    assert "rows_per_s" in sessions


def test_a_report_made_before_in_the_same_process_changes_no_page(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    templates.cache_clear()
    assert main(["report", LAST, "--output", "-", "--results-dir", str(results)]) == 0
    assert "</html>" in capsys.readouterr().out
    answer = TestClient(dashboard(results), base_url="http://127.0.0.1").get("/session", params={"name": LAST})
    assert answer.status_code == 200
    assert "/session/entry?session=" in answer.text


def test_a_session_whose_folder_is_gone_is_shown_from_the_history(tmp_path: Path) -> None:
    folder = make_session(tmp_path, [MadeRun("alm", {"x": 1.5})], name="pruned")
    with History.beside(tmp_path) as history:
        history.add_session(folder)
    (folder.path / "session.json").unlink()
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    assert "alm" in client.get("/session", params={"name": "pruned"}).text
    assert client.get("/session/entry", params={"session": "pruned", "entry": "alm"}).status_code == 200


def test_live_tells_what_changes(tmp_path: Path) -> None:
    running_session(tmp_path)
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    assert "running-now" in client.get("/").text
    facts = (
        client.get("/session", params={"name": "running-now"})
        .text.partition('<ul class="facts">')[2]
        .partition("</ul>")[0]
    )
    assert "UTC</li>" in facts, "how long it has run is said once, by what follows its clock"
    now = client.get("/live", params={"name": "running-now"}).json()
    assert (now["status"], now["ended"], now["total"]) == ("running", 1, 2)
    assert (now["entry"]["name"], now["entry"]["log"]) == ("second", "epoch 1")
    assert now["words"]["progress"] == "1 of 2 runs have ended"
    assert now["words"]["left"] == "not known: nothing of what is left was run before"


@pytest.mark.parametrize("path", [*PAGES, "/live", "/static/page.js"])
def test_it_only_reads(client: TestClient, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, path).status_code == 405


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/session?name=../../etc", 404),
        ("/session?name=..", 404),
        ("/session?name=", 404),
        ("/session/entry?session=" + LAST + "&entry=nothing", 404),
        ("/series?id=999999", 404),
        ("/series?id=-1", 400),
        ("/runs?page=x", 400),
        ("/sessions?commit=zz", 400),
        ("/compare?base=a" + "".join(f"&with={number}" for number in range(20)), 400),
        ("/entry?name=nothing", 404),
        ("/compare?base=a&head=b", 404),
        ("/static/..%2fapp.py", 404),
        ("/static/session.html", 404),
    ],
)
def test_what_is_not_there_is_said_plainly(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert "Traceback" not in answer.text


def test_another_name_for_this_machine_is_refused(results: Path) -> None:
    """A page elsewhere may let its own name point here; the browser then sends that name."""
    client = TestClient(dashboard(results), base_url="http://evil.example")
    assert client.get("/").status_code == 400


def test_headers_forbid_what_is_not_needed(client: TestClient) -> None:
    headers = client.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "script-src 'self';" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_hostile_names_are_text_on_every_page(client: TestClient) -> None:
    for path, asked in (
        ("/", {"name": HOSTILE}), ("/sessions", {"entry": HOSTILE}), ("/sessions", {"text": HOSTILE}),
        ("/session", {"name": LAST}), ("/entries", {}), ("/runs", {"entry": HOSTILE}),
        ("/entry", {"name": HOSTILE}), ("/session/entry", {"session": LAST, "entry": HOSTILE}),
    ):  # fmt: skip
        text = client.get(path, params=asked).text
        assert "<script>alert" not in text


def test_an_empty_folder(tmp_path: Path) -> None:
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    assert "Nothing has been recorded yet" in client.get("/").text
    assert "assay run writes them" in client.get("/sessions").text
    assert client.get("/entries").status_code == 200
