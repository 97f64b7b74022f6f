from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sinks.moody_server import Answer
from tests.sinks.sessions import Told, a_record, an_environment, wait_for
from tests.sinks.slack_service import CHANNEL, HOOK, TOKEN, Slack, all_text, check

from assay.record import Outcome
from assay.sinks import check_spec
from assay.sinks.slack_message import SlackMessage, SlackRow, mention, reply_blocks


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slack]:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    service = Slack()
    yield service
    service.server.stop()


def bot(slack: Slack, **more: Any) -> dict[str, Any]:
    return {"name": "slack", "channel_id": CHANNEL, "base_url": slack.api, **more}


def test_a_live_message_is_updated_and_failures_stand_in_its_thread(tmp_path: Path, slack: Slack) -> None:
    told = Told(tmp_path, [bot(slack, live_updates=True, pace_s=0.1, default_metrics=["exec_time_s"])])
    [message] = wait_for(slack.main)
    assert message.text == "Assay nightly: 0 of 2 done, 0 failed"
    told.run(a_record(1, sink_data={"slack": {"additional_metrics": ["speed"]}}))
    wait_for(lambda: message.text == "Assay nightly: 1 of 2 done, 0 failed")
    failing = {"slack": {"ping_on_failure": ["U012ABCDEF", "S012ABCDEF", "here"]}}
    told.run(a_record(2, outcome=Outcome.FAILED, reasons=("exit code 3 <x>",), sink_data=failing))
    [status] = told.end()
    assert status.state == "delivered", status
    assert slack.main() == [message]
    assert message.text == "Assay nightly: 1 of 2 failed"
    text = all_text(message.blocks)
    assert "bench-1 · Some CPU, 8 cores" in text
    assert "✅ `entry-1`  exec_time_s 1.5 s  speed 2 1/s" in text
    assert "entry-1: 3% faster" in text
    [failure] = slack.thread(message.ts)
    assert "exit code 3 &lt;x&gt;" in all_text(failure.blocks)
    assert "<@U012ABCDEF> <!subteam^S012ABCDEF> <!here>" in all_text(failure.blocks)
    assert dict(status.links)["Slack"].endswith(message.ts)
    assert slack.refused == []


def test_without_live_updates_there_is_one_message_at_the_end(tmp_path: Path, slack: Slack) -> None:
    told = Told(tmp_path, [bot(slack)])
    told.run(a_record(1))
    told.run(a_record(2, outcome=Outcome.TIMEOUT))
    assert slack.messages == []
    [status] = told.end()
    assert status.state == "delivered", status
    [message] = slack.main()
    assert message.text == "Assay nightly: 1 of 2 failed"
    assert len(slack.thread(message.ts)) == 1


@pytest.mark.parametrize(
    ("only", "replies"), [(True, {"entry-2", "entry-3"}), (False, {"entry-1", "entry-2", "entry-3"})]
)
def test_who_gets_a_reply_is_said_by_a_key(tmp_path: Path, slack: Slack, only: bool, replies: set[str]) -> None:
    asked = {"thread_replies_for_failures_or_warnings_only": only, "live_updates": True, "pace_s": 0.01}
    told = Told(tmp_path, [bot(slack, **asked)])
    told.run(a_record(1, sink_data={"slack": {"additional_metrics": ["speed"]}}))
    told.run(a_record(2, warnings=("GPU 0 <busy>",), sink_data={"slack": {"ping_on_failure": ["U012ABCDEF"]}}))
    told.run(a_record(3, outcome=Outcome.FAILED, sink_data={"slack": {"ping_on_failure": ["U012ABCDEF"]}}))
    [status] = told.end()
    assert status.state == "delivered", status
    [message] = slack.main()
    texts = {text.split("`")[1]: text for reply in slack.thread(message.ts) for text in [all_text(reply.blocks)]}
    assert texts.keys() == replies
    assert "⚠ GPU 0 &lt;busy&gt;" in texts["entry-2"]
    assert [name for name, text in texts.items() if "<@U012ABCDEF>" in text] == ["entry-3"]
    if not only:
        assert "exec_time_s 1.5 s  speed 2 1/s" in texts["entry-1"]
    assert slack.refused == []


def test_pings_can_be_switched_off(tmp_path: Path, slack: Slack) -> None:
    told = Told(tmp_path, [bot(slack, ping_users_on_failure=False, ping_on_failure=["here"])])
    told.run(a_record(1, outcome=Outcome.FAILED, sink_data={"slack": {"ping_on_failure": ["U012ABCDEF"]}}))
    [status] = told.end()
    assert status.state == "delivered", status
    said = "".join(all_text(message.blocks) for message in slack.messages)
    assert "entry-1" in said
    assert "<@" not in said
    assert "<!here>" not in said
    (wrong,) = check_spec(bot(slack, ping_users_on_failure="U012ABCDEF"))
    assert wrong == "ping_users_on_failure: must be true or false; who is told stands under ping_on_failure"


def test_the_message_links_to_the_sessions_viewer(tmp_path: Path, slack: Slack) -> None:
    told = Told(tmp_path, [bot(slack)], viewer_url="https://viewer.example/?a=1&b=<|>")
    [status] = told.end()
    assert status.state == "delivered", status
    assert "<https://viewer.example/?a=1&amp;b=%3C%7C%3E|viewer>" in all_text(slack.main()[0].blocks)


@pytest.mark.parametrize("key", ["webhook_url", "webhook_env"])
def test_a_webhook_gets_one_message_and_its_secret_is_nowhere(
    tmp_path: Path, slack: Slack, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("MY_SLACK", slack.hook)
    spec = {"name": "slack", key: slack.hook if key == "webhook_url" else "MY_SLACK", "ping_on_failure": ["here"]}
    slack.server.fail_next(Answer(404, b"no such hook: " + HOOK.encode()))
    told = Told(tmp_path, [spec])
    told.run(a_record(1, outcome=Outcome.FAILED, reasons=(f"see {slack.hook}",)))
    [status] = told.end()
    assert status.state == "delivered", status
    [said] = slack.hooked
    assert said["text"] == "Assay nightly: 1 of 1 failed"
    assert "<!here>" in all_text(said["blocks"])
    assert "assay · session nightly" in all_text(said["blocks"])
    for path in (told.folder.path / "outbox").rglob("*"):
        assert b"hooksecretXYZ" not in path.read_bytes(), path


def test_what_slack_asks_to_wait_is_waited_and_the_message_comes_once(tmp_path: Path, slack: Slack) -> None:
    slack.server.fail_next(Answer(429, b'{"ok":false,"error":"ratelimited"}', {"Retry-After": "1"}))
    told = Told(tmp_path, [bot(slack, live_updates=True)])
    state = told.delivery._outbox.state("slack")
    waiting = wait_for(lambda: state.progress if state.progress.failures else None)
    assert "429" in waiting.reason
    told.run(a_record(1))
    [status] = told.end()
    assert status.state == "delivered", status
    assert len(slack.main()) == 1


def test_a_bot_that_may_not_read_history_still_delivers(tmp_path: Path, slack: Slack) -> None:
    slack.may_read = False
    slack.server.half_close_next()
    told = Told(tmp_path, [bot(slack)])
    told.run(a_record(1))
    [status] = told.end()
    assert status.state == "delivered", status
    assert {message.metadata["event_payload"]["key"] for message in slack.main()} == {"session nightly"}


def test_an_answer_cut_short_does_not_double_the_message(tmp_path: Path, slack: Slack) -> None:
    slack.server.half_close_next()
    told = Told(tmp_path, [bot(slack)])
    told.run(a_record(1))
    [status] = told.end()
    assert status.state == "delivered", status
    assert len(slack.main()) == 1


@pytest.mark.parametrize("entries", [0, 1, 200, 1000])
@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FAILED])
def test_the_message_stays_within_slacks_limits(entries: int, outcome: Outcome) -> None:
    nasty = "x" * 500 + "`*<!channel>&"
    records = [a_record(n, name=f"{n}{nasty}", outcome=outcome, reasons=(nasty * 20,)) for n in range(entries)]
    rows = [SlackRow.of(record, ["exec_time_s", "speed"]) for record in records]
    message = SlackMessage("s" * 300, an_environment(), rows, finished=True, changes="c" * 50_000, key="k" * 3000)
    assert check({"text": message.text, "blocks": message.blocks}) is None
    assert "<!channel>" not in all_text(message.blocks)
    if entries > 100:
        assert f"more {outcome}" in all_text(message.blocks)


def test_two_hundred_entries_with_ordinary_names_are_all_counted(tmp_path: Path, slack: Slack) -> None:
    told = Told(tmp_path, [bot(slack, live_updates=True, pace_s=0.01)])
    for number in range(200):
        told.delivery.run_finished(a_record(number, outcome=Outcome.FAILED if number % 5 == 0 else Outcome.PASSED))
    [status] = told.end(wait_s=90)
    assert status.state == "delivered", status
    [message] = slack.main()
    assert message.text == "Assay nightly: 40 of 200 failed"
    assert len(slack.thread(message.ts)) == 20
    assert slack.refused == []


@pytest.mark.parametrize("outcome", [Outcome.NOT_STARTED, Outcome.SKIPPED])
def test_a_run_that_never_was_has_no_time_and_no_log(outcome: Outcome) -> None:
    record = a_record(outcome=outcome, reasons=("a reason",))
    told = str(reply_blocks(record, [], [], "key")[0])
    assert f"`entry-1` {outcome.words}\\na reason" in told
    assert "log:" not in told


def test_a_name_that_is_no_id_is_not_a_mention() -> None:
    assert mention("<!channel>") == "@&lt;!channel&gt;"


def test_what_cannot_work_is_said_in_the_plan() -> None:
    assert check_spec({"name": "slack", "live_updates": True}) == [
        "sink slack needs webhook_url, webhook_env, or channel_id (with SLACK_BOT_TOKEN)"
    ]
    (wrong,) = check_spec({"name": "slack", "chanel_id": "C1"})
    assert wrong.startswith("chanel_id: unknown key 'chanel_id' of sink 'slack'; did you mean 'channel_id'?")
    assert check_spec({"name": "slack", "channel_id": "C1", "default_metrics": ["exec_time_s"]}) == []
