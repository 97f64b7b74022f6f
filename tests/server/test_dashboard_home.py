"""The first screen: what runs, what needs a person until somebody says so, and the grid."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from dashboard_demo import demo_nights, demo_running
from history_rows import fill
from session_factory import MACHINE, START, MadeRun, made_record
from starlette.testclient import TestClient

from assay.history import History
from assay.record import Outcome, SessionInfo
from assay.server import cache
from assay.server.app import dashboard
from assay.server.attention import load_acknowledged
from assay.server.cache import ChangeCounter, KeptBoard, KeptPage, KeptPages
from assay.server.status_board import StatusBoard
from assay.server.trend_charts import colours, spark

OWN = {"origin": "http://localhost"}
FAILED = {"matter": "failed", "entry": "removal_ray", "machine": MACHINE.machine_class}


@pytest.fixture(autouse=True)
def _made_while_the_reader_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_QUICK_S", 1e9)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    demo_nights(folder, nights=24)
    return folder


@pytest.fixture
def client(made: Path) -> Iterator[TestClient]:
    yield TestClient(dashboard(made), base_url="http://localhost", follow_redirects=True)
    (made / "acknowledged.json").unlink(missing_ok=True)


def test_failures_then_regressions_each_with_its_reason_and_its_series(client: TestClient, made: Path) -> None:
    text = client.get("/").text
    assert "2 need a person" in text
    failed, regressed = text.index("✕ failed"), text.index("▼ regressed")
    assert failed < regressed < text.index('id="entries"')
    assert "exit 3: ids-to-remove: no such file" in text
    assert "2 sessions in a row" in text
    with History.beside(made, read_only=True) as history:
        [series] = history.series(entry="alm_xenna", metric="rows_per_s")
    assert f'href="/series?id={series.id}"' in text[regressed:]
    assert "at commit" in text[regressed:]


def test_what_is_acknowledged_is_kept_on_disk_and_may_be_opened_again(client: TestClient, made: Path) -> None:
    answer = client.post("/acknowledge", data={**FAILED, "note": "ids are <b>back</b> tomorrow"}, headers=OWN)
    assert answer.status_code == 200
    assert "1 needs a person" in answer.text
    assert "1 acknowledged" in answer.text
    assert "ids are &lt;b&gt;back&lt;/b&gt; tomorrow" in answer.text
    [kept] = load_acknowledged(made)
    assert (kept.matter, kept.entry, kept.note) == ("failed", "removal_ray", "ids are <b>back</b> tomorrow")
    again = TestClient(dashboard(made), base_url="http://localhost")
    assert "1 acknowledged" in again.get("/").text
    opened = client.post("/acknowledge", data={**FAILED, "back_to_open": "yes"}, headers=OWN)
    assert "2 need a person" in opened.text
    assert load_acknowledged(made) == ()


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {}])
def test_a_page_elsewhere_cannot_acknowledge(client: TestClient, made: Path, headers: dict[str, str]) -> None:
    assert client.post("/acknowledge", data=FAILED, headers=headers).status_code == 403
    assert not (made / "acknowledged.json").exists()


@pytest.mark.parametrize(
    "form", [{"matter": "nothing"}, {**FAILED, "entry": "other"}, {**FAILED, "note": "n" * 20_000}, {}]
)
def test_a_form_that_says_nothing_true_is_refused(client: TestClient, made: Path, form: dict[str, str]) -> None:
    assert client.post("/acknowledge", data=form, headers=OWN).status_code in (400, 413)
    assert not (made / "acknowledged.json").exists()


def test_without_leave_nothing_is_acknowledged(made: Path) -> None:
    client = TestClient(dashboard(made, may_acknowledge=False), base_url="http://localhost")
    assert "Acknowledge" not in client.get("/").text
    assert client.post("/acknowledge", data=FAILED, headers=OWN).status_code == 404


def test_damaged_acknowledgements_are_said_and_hide_nothing(client: TestClient, made: Path) -> None:
    for written in ("{", "[]", '{"acknowledged": [{"matter": "x"}]}', '{"acknowledged": [1]}'):
        (made / "acknowledged.json").write_text(written)
        text = client.get("/").text
        assert "acknowledged.json: cannot be read" in text
        assert "2 need a person" in text


def test_what_fails_anew_needs_somebody_again(tmp_path: Path) -> None:
    def night(day: int, outcome: Outcome) -> None:
        started = START + timedelta(days=day)
        record = made_record(MadeRun("alm", {"x": 1.0}, outcome=outcome), f"night-{day}", started)
        info = SessionInfo(f"night-{day}", started.isoformat(), status="finished", finished_at=started.isoformat())
        with History.beside(tmp_path) as history:
            history.add(record, info, MACHINE)

    night(0, Outcome.PASSED)
    night(1, Outcome.FAILED)
    client = TestClient(dashboard(tmp_path), base_url="http://localhost", follow_redirects=True)
    said = client.post("/acknowledge", data={**FAILED, "entry": "alm"}, headers=OWN).text
    assert "Nothing needs a person" in said
    night(2, Outcome.FAILED)
    assert "Nothing needs a person" in client.get("/").text
    night(3, Outcome.PASSED)
    assert "acknowledged" not in client.get("/").text
    night(4, Outcome.FAILED)
    assert "1 needs a person" in client.get("/").text


def _entries(text: str) -> list[str]:
    return re.findall(r'<tr data-name="([^"]+)"', text)


def test_the_grid_is_filtered_by_its_address(client: TestClient) -> None:
    assert len(_entries(client.get("/").text)) == 8
    assert _entries(client.get("/", params={"name": "alm"}).text) == ["alm_local", "alm_xenna"]
    assert _entries(client.get("/", params={"tag": "gpu"}).text) == ["finetune_tiny", "serving_chat"]
    assert _entries(client.get("/", params={"machine": "another"}).text) == []
    only = client.get("/?metric=usage.cpu_s&metric=ttft_p95_s").text
    assert re.findall(r"</span>([^<]+)</th>", only.partition("<thead>")[2].partition("</thead>")[0]) == [
        "usage.cpu_s",
        "ttft_p95_s",
    ]


def test_a_running_session_says_how_far_it_is(tmp_path: Path) -> None:
    demo_nights(tmp_path, nights=3)
    folder = demo_running(tmp_path)
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    now = client.get("/live", params={"name": folder.path.name}).json()
    assert (now["ended"], now["total"], now["unknown"]) == (5, 8, 0)
    assert now["entry"]["name"] == "serving_chat"
    assert now["words"]["clock"].endswith("(limit 2 min)")
    assert (now["words"]["cpus"], now["words"]["memory"]) == ("1.8", "2,141 MB")
    assert 100 < now["left_s"] < 400
    text = client.get("/").text
    assert "5 of 8 runs have ended" in text
    assert "first after 41 ms" in text


def test_a_damaged_record_breaks_no_page(tmp_path: Path) -> None:
    import sqlite3

    demo_nights(tmp_path, nights=3)
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("UPDATE body SET record = X'00ff'")
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    with History.beside(tmp_path, read_only=True) as history:
        run = history.runs(entry="removal_ray", limit=1)[0]
    for page in ("/", "/sessions", f"/session?name={run.session}", "/entry?name=alm_local", "/series?id=1", "/runs"):
        assert client.get(page).status_code == 200
    assert client.get("/compare", params={"base": run.run_id, "head": run.session}).status_code == 400


def test_every_commit_is_counted_and_a_new_file_too(tmp_path: Path) -> None:
    counter = ChangeCounter(tmp_path / "history.sqlite")
    assert counter.value() == ()
    seen = []
    for number in range(3):
        with History.beside(tmp_path) as history:
            fill(history, sessions=1, entries=1, metrics=1, seed=number)
        seen.append(counter.value())
    assert counter.value() == seen[-1]
    History.start_anew(tmp_path)
    with History.beside(tmp_path) as history:
        fill(history, sessions=2, entries=1, metrics=1)
    assert len({*seen, counter.value()}) >= 3


def test_the_first_screen_follows_the_history(tmp_path: Path) -> None:
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    assert _entries(client.get("/").text) == []
    demo_nights(tmp_path, nights=2)
    assert len(_entries(client.get("/").text)) == 8


def test_a_slow_board_is_made_while_the_last_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_QUICK_S", 0.2)
    kept, going_on = KeptBoard(), threading.Event()
    kept.get(1, lambda: StatusBoard(tags=("first",)))
    kept._took_s = 9.0

    def slowly() -> StatusBoard:
        going_on.wait(20)
        return StatusBoard(tags=("second",))

    assert kept.get(2, slowly).tags == ("first",)
    assert kept.get(2, slowly).tags == ("first",)
    going_on.set()
    for _ in range(2000):
        if kept.get(2, slowly).tags == ("second",):
            return
        threading.Event().wait(0.005)
    pytest.fail("the new board never came")


def test_a_page_is_kept_until_its_state_changes() -> None:
    kept, made = KeptPages(), []

    def make(lasting: bool = True) -> KeptPage:
        made.append(1)
        return KeptPage(200, b"x", lasting)

    for state in (1, 1, 2, 2, 1):
        kept.get("/", state, make)
    assert len(made) == 3
    for _ in range(3):
        kept.get("/live", 1, lambda: make(lasting=False))
    assert len(made) == 6
    for number in range(500):
        kept.get(number, 1, make)
    assert len(kept._kept) <= 300


def test_a_name_keeps_its_colour() -> None:
    alone = colours(["rows_per_s"])["rows_per_s"]
    assert colours(["exec_time_s", "rows_per_s"])["exec_time_s"] == colours(["exec_time_s"])["exec_time_s"]
    assert colours(["rows_per_s", "a", "b", "c"])["rows_per_s"] == alone
    assert len(set(colours(map(str, range(8))).values())) == 8


def test_a_spark_line_holds_all_its_values_and_marks_steps() -> None:
    drawn = spark([1.0, 1.0, 2.0, 2.0], [2], 'of "<b>"')
    assert drawn.count("l") >= 3
    assert 'class="step"' in drawn
    assert "<b>" not in drawn
    assert "nan" not in spark([5.0], [], "one")


def test_acknowledgements_are_plain_json(client: TestClient, made: Path) -> None:
    client.post("/acknowledge", data=FAILED, headers=OWN)
    written = json.loads((made / "acknowledged.json").read_text())
    assert written["acknowledged"][0]["through"].startswith("2026-03-24")
    assert replace(load_acknowledged(made)[0], note="").covers(
        "failed", "removal_ray", FAILED["machine"], START.isoformat()
    )


def test_the_first_screen_is_made_when_the_server_starts(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has asked for anything yet."""
    kept = threading.Event()
    keep = KeptPages._keep

    def keeping(self: KeptPages, key: tuple[str, str], state: object, page: KeptPage) -> None:
        keep(self, key, state, page)
        if key == ("/", ""):
            kept.set()

    monkeypatch.setattr(KeptPages, "_keep", keeping)
    with TestClient(dashboard(made), base_url="http://localhost") as client:
        assert kept.wait(60)
        monkeypatch.setattr(KeptPages, "_keep", lambda *_: pytest.fail("made again"))
        assert "need a person" in client.get("/").text


def test_a_damaged_history_does_not_keep_the_server_from_starting(tmp_path: Path) -> None:
    (tmp_path / "history.sqlite").write_bytes(b"not a database" * 100)
    with TestClient(dashboard(tmp_path), base_url="http://localhost") as client:
        answer = client.get("/")
    assert (answer.status_code, "history" in answer.text) == (400, True)
