"""A service that answers anything at all: its message stays pending with a reason, and delivery goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.sinks.moody_server import Answer, MoodyServer
from tests.sinks.sessions import a_record

from assay.sinks.delivery.delivery import statuses
from assay.sinks.delivery.outbox import Outbox
from assay.sinks.delivery.sink_state import Backoff, SinkState
from assay.sinks.gdrive_sink import translate_error
from assay.sinks.http_target import HttpTarget
from assay.sinks.sink import Rejected, SinkFailure, SinkSpec, Unavailable
from assay.sinks.slack_sink import SlackBot

BODIES = {
    "nothing": b"",
    "no JSON": b"<html>welcome</html>",
    "bytes": bytes(range(256)),
    "list": b"[1, 2]",
    "number": b"7",
    "null": b"null",
    "nothing more": b'{"ok": true}',
    "wrong types": b'{"ok": true, "ts": {"a": 1}, "permalink": [], "messages": {"a": 1}}',
    "wrong messages": b'{"ok": true, "ts": 3, "messages": [null, 1, {"metadata": {"event_payload": []}}]}',
    "found without id": b'{"ok": true, "messages": [{"metadata": {"event_payload": {"key": "k"}}}]}',
    "deep": b'{"ok": true, "ts": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "error of a kind": b'{"ok": false, "error": {"a": 1}}',
    "refused without a word": b'{"ok": 0}',
}
STATUSES = (200, 201, 204, 302, 400, 429, 500)


@pytest.fixture
def server() -> Iterator[MoodyServer]:
    made = MoodyServer(lambda request: Answer())
    yield made
    made.stop()


@pytest.mark.parametrize("name", BODIES)
def test_slack_may_answer_anything(server: MoodyServer, name: str) -> None:
    bot = SlackBot("xoxb-token", "C1", f"{server.url}/api/")
    for status in STATUSES:
        server.handle = lambda request, status=status: Answer(status, BODIES[name], {"Retry-After": "1e999"})  # type: ignore[misc]
        with pytest.raises(SinkFailure):
            bot.post("text", [], "k")
        with pytest.raises(SinkFailure):
            bot.address("1.2")
        with suppress(SinkFailure):
            assert bot.find("k") is None


def test_a_redirect_is_no_receipt(server: MoodyServer) -> None:
    """Followed, a POST would become a GET, and the page there would count as delivered."""
    server.handle = lambda request: (
        Answer(302, headers={"Location": f"{server.url}/login"}) if request.method == "POST" else Answer(200, b"log in")
    )
    with pytest.raises(Unavailable, match="answered 302"):
        HttpTarget(server.url).send("POST", "/write", b"x")


def test_an_answer_without_end_is_not_read_to_it(server: MoodyServer) -> None:
    server.handle = lambda request: Answer(200, b"x" * (20 * 2**20))
    with pytest.raises(Unavailable, match="answered with more than 16 MB"):
        HttpTarget(server.url).send("POST", "/write", b"x")


@pytest.mark.parametrize("asked", ["inf", "1e999", "nan", "-5", "9" * 400, "²", "Wed, 21 Oct 2026 07:28:00 GMT", ""])
def test_no_service_can_put_delivery_off_for_ever(server: MoodyServer, tmp_path: Path, asked: str) -> None:
    server.handle = lambda request: Answer(503, b"later", {"Retry-After": asked.encode("utf-8").decode("latin-1")})
    with pytest.raises(Unavailable) as told:
        HttpTarget(server.url).send("POST", "/write", b"x")
    assert 0 < Backoff().delay(1, told.value.retry_after_s) <= 3600
    state = SinkState(tmp_path / "state.sqlite")
    state.mark_failed("later", told.value.retry_after_s)
    assert state.progress.next_try_at < 2**40
    state.close()


def test_what_drive_asks_for_may_be_no_number() -> None:
    class Response(dict[str, str]):
        status = 503

    class Refusal(Exception):
        resp = Response({"retry-after": "²"})

    told = translate_error(Refusal("busy"))
    assert isinstance(told, Unavailable)
    assert told.retry_after_s is None
    assert not isinstance(told, Rejected)


@pytest.mark.parametrize("written", [b"", b"not a database", bytes(4096)])
def test_a_damaged_state_is_told_with_what_is_pending(tmp_path: Path, written: bytes) -> None:
    outbox = Outbox(tmp_path)
    outbox.folder.mkdir()
    spec = SinkSpec("slack")
    outbox.log.path.write_text(json.dumps({"key": "k", "kind": "run_finished", "body": a_record().to_json()}) + "\n")
    outbox.state_path("slack").write_bytes(written)
    [status] = statuses(outbox, [spec])
    assert status.pending == 1
