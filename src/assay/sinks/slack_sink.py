"""Slack through its official client, each failure told as what it means for the outbox. The client's own retries are
off: the outbox waits as long as Slack asks (Retry-After) and loses nothing when the process ends meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any

from assay.errors import MissingExtra
from assay.record import Record
from assay.sinks.delivery.courier import once
from assay.sinks.delivery.outbox import KEYS, NOTHING, SinkData, select_sink_data
from assay.sinks.http_target import raise_for_status
from assay.sinks.sink import Key, Rejected, Sink, SinkFailure, Unavailable
from assay.sinks.slack_message import SlackMessage, SlackRow, reply_blocks

EVENT = "assay_message"
# Errors about the message itself; anything else (wrong token, unknown channel) a person can put right.
_NEVER = ("invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "no_text")
Blocks = Sequence[Mapping[str, Any]]


class SlackWebhook:
    def __init__(self, url: str) -> None:
        try:
            from slack_sdk.webhook import WebhookClient
        except ImportError:
            raise MissingExtra("slack-sdk", "slack") from None
        self._client = WebhookClient(url, timeout=25, retry_handlers=[])

    def post(self, text: str, blocks: Blocks) -> None:
        try:
            response = self._client.send(text=text, blocks=list(blocks))
        except OSError as error:
            raise Unavailable(f"Slack: {getattr(error, 'reason', None) or error or type(error).__name__}") from None
        if response.status_code != 200:
            raise_for_status(response.status_code, response.body, _header(response.headers, "retry-after"))


class SlackBot:
    def __init__(self, token: str, channel: str, base_url: str | None) -> None:
        try:
            from slack_sdk import WebClient
        except ImportError:
            raise MissingExtra("slack-sdk", "slack") from None
        more = {"base_url": base_url} if base_url else {}
        self._client = WebClient(token=token, timeout=25, retry_handlers=[], **more)
        self._channel = channel

    def post(self, text: str, blocks: Blocks, key: str, thread: str | None = None) -> str:
        """The message's id. `key` is put into its metadata, where `find` looks for it."""
        metadata = {"event_type": EVENT, "event_payload": {"key": key}}
        answer = self._call(
            "chat_postMessage",
            text=text,
            blocks=list(blocks),
            metadata=metadata,
            thread_ts=thread,
            unfurl_links=False,
            unfurl_media=False,
        )
        return _text(answer, "ts")

    def update(self, message: str, text: str, blocks: Blocks, key: str) -> None:
        metadata = {"event_type": EVENT, "event_payload": {"key": key}}
        self._call("chat_update", ts=message, text=text, blocks=list(blocks), metadata=metadata)

    def find(self, key: str, thread: str | None = None) -> str | None:
        """The id of the message with this key, among the channel's latest or a thread's. A bot that may not read
        history finds nothing, and then a message that was sent just before a kill is sent again."""
        try:
            if thread:
                answer = self._call("conversations_replies", ts=thread, limit=200, include_all_metadata=True)
            else:
                answer = self._call("conversations_history", limit=200, include_all_metadata=True)
        except Unavailable as failure:
            if "missing_scope" in str(failure):
                return None
            raise
        messages = answer.data.get("messages") if isinstance(answer.data, Mapping) else None
        for message in messages if isinstance(messages, list) else ():
            if _key(message) == key:
                return _text(message, "ts")
        return None

    def address(self, message: str) -> str:
        return _text(self._call("chat_getPermalink", message_ts=message), "permalink")

    def _call(self, method: str, **arguments: Any) -> Any:
        from slack_sdk.errors import SlackApiError

        try:
            return getattr(self._client, method)(channel=self._channel, **arguments)
        except SlackApiError as error:
            response: Any = error.response
            status = int(getattr(response, "status_code", 0) or 0)
            data = getattr(response, "data", response)
            told = str(data.get("error") or "") if isinstance(data, Mapping) else str(data)[:300]
            if status == 429:
                raise_for_status(429, told, _header(response.headers, "retry-after"))
            if told in _NEVER:
                raise Rejected(f"Slack: {told}") from None
            raise Unavailable(f"Slack: {told or status}") from None
        except (HTTPException, TypeError, ValueError, AttributeError, RecursionError) as error:
            # The client takes for granted that an answer is Slack's, and fails in any way on another.
            raise Unavailable(f"Slack: its answer cannot be read: {type(error).__name__}: {error}"[:300]) from None
        except OSError as error:
            raise Unavailable(f"Slack: {getattr(error, 'reason', None) or error or type(error).__name__}") from None


def _text(answer: Any, name: str) -> str:
    data = getattr(answer, "data", answer)
    found = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(found, str) or not found:
        raise Unavailable(f"Slack: its answer has no {name}")
    return found


def _key(message: Any) -> object:
    """The key that `post` put into a message's metadata; None in a message of others."""
    for name in ("metadata", "event_payload", "key"):
        message = message.get(name) if isinstance(message, Mapping) else None
    return message


def _header(headers: Mapping[str, Any], name: str) -> str | None:
    for key, value in headers.items():
        if key.lower() == name:
            return str(value[0] if isinstance(value, list) else value)
    return None


# Slack lets a bot speak about once a second in a channel.
_PACE_S = 1.1
# So many failures get a word of their own in the thread; the session's message names more of them.
_IN_THREAD = 20
# So many entries do where thread_replies_for_failures_or_warnings_only is given.
_IN_THREAD_ASKED = 100


class SlackSink(Sink):
    """Messages in Slack. With a bot token: one message for the session, updated as it goes, failures in its thread.
    With a webhook, which can neither update nor look: one message when the session is over."""

    summary = "Slack: one message a session, by a bot (updated live) or a webhook"
    keys = (
        Key("webhook_url", "of an incoming webhook", secret=True),
        Key("webhook_env", "name of the environment variable that holds the webhook's address"),
        Key("bot_token", "xoxb-… (default: SLACK_BOT_TOKEN)", secret=True),
        Key("channel_id", "C…, for a bot"),
        Key("live_updates", "true: the message is posted when the session begins, and kept up to date"),
        Key("default_metrics", "metrics to show of every entry (default: [exec_time_s])"),
        Key("ping_on_failure", "who is told when any entry fails: user or group ids, or `here`"),
        Key("ping_users_on_failure", "false: nobody is told, whatever entries and ping_on_failure say (default: true)"),
        Key(
            "thread_replies_for_failures_or_warnings_only",
            "in a bot's thread: true: entries that failed or have warnings, false: all (default: those that failed)",
        ),
        Key("pace_s", "seconds between two messages of a bot (default: 1.1, what Slack allows in a channel)"),
        Key("base_url", "another address of Slack's API (default: https://slack.com/api/)"),
    )

    entry_keys = KEYS

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        given = [key for key in ("webhook_url", "webhook_env", "channel_id") if config.get(key)]
        if not given:
            return ["sink slack needs webhook_url, webhook_env, or channel_id (with SLACK_BOT_TOKEN)"]
        if len(given) > 1 and "channel_id" in given:
            return ["sink slack has both a webhook and a channel_id: keep one"]
        problems = []
        if not isinstance(config.get("default_metrics", []), list):
            problems.append("default_metrics: must be a list of names")
        for key in ("live_updates", "thread_replies_for_failures_or_warnings_only"):
            if not isinstance(config.get(key, False), bool):
                problems.append(f"{key}: must be true or false")
        if not isinstance(config.get("ping_users_on_failure", True), bool | list):
            problems.append("ping_users_on_failure: must be true or false; who is told stands under ping_on_failure")
        return problems

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self._bot: SlackBot | None = None
        self._webhook: SlackWebhook | None = None
        self._spoke = 0.0
        self._running = ""
        if self.config.get("channel_id"):
            token = self.config.get("bot_token") or os.environ.get("SLACK_BOT_TOKEN")
            if not token:
                raise Unavailable("set SLACK_BOT_TOKEN in the environment")
            self._bot = SlackBot(str(token), str(self.config["channel_id"]), self.config.get("base_url"))
            if self.config.get("live_updates"):
                self._show(finished=False)
        else:
            self._webhook = SlackWebhook(self._webhook_url())

    def entry_started(self, name: str, run_id: str) -> None:
        self._running = name
        self._update_live()

    def process_result(self, result: dict[str, Any]) -> None:
        self._running = ""
        record = Record.from_json(result)
        if self._bot is None or not self.config.get("live_updates") or not record.counts:
            return
        self._reply(record, SinkData.parse(result["sink_data"]))
        self._update_live()

    def finalize(self) -> None:
        if self._webhook is not None:
            message = self._message(finished=True)
            self._webhook.post(message.text, message.blocks)
            return
        self._show(finished=True)
        for record in self.context.records():
            self._reply(record, self._read_sink_data(record))

    def _update_live(self) -> None:
        """Updates the message, but not while catching up: later updates say the same, and the end says everything."""
        if self._bot is not None and self.config.get("live_updates") and not self.context.backlog:
            self._show(finished=False)

    def _show(self, finished: bool) -> None:
        assert self._bot is not None
        bot, message = self._bot, self._message(finished)
        memory, key = self.context.memory, f"session {self.context.session_name}"
        before = memory.get(f"id of {key}")
        posted = once(memory, key, lambda: bot.find(key), lambda: bot.post(message.text, message.blocks, key))
        if before is None:
            self._announce(posted)
        else:
            self._pace()
            bot.update(posted, message.text, message.blocks, key)
        self._spoke = time.monotonic()

    def _is_told(self, record: Record) -> bool:
        """Whether the run gets a reply of its own in the thread."""
        only = self.config.get("thread_replies_for_failures_or_warnings_only")
        if only is None:
            return not record.success
        return not only or not record.success or bool(record.warnings)

    def _reply(self, record: Record, said: SinkData) -> None:
        assert self._bot is not None
        if not self._is_told(record):
            return
        kind = "result" if record.success else "failure"
        bot, memory, key = self._bot, self.context.memory, f"{kind} {record.run_id}"
        told = int(memory.get("failures told", 0))
        asked = "thread_replies_for_failures_or_warnings_only" in self.config
        if f"id of {key}" in memory or told >= (_IN_THREAD_ASKED if asked else _IN_THREAD):
            return
        if f"id of session {self.context.session_name}" not in memory:
            self._show(finished=False)
        thread = str(memory.get(f"id of session {self.context.session_name}"))
        metrics = [*self._metrics(), *said.additional_metrics] if record.success else []
        blocks = reply_blocks(record, metrics, () if record.success else self._pings(said), key)
        text = f"{record.name} {record.outcome.words}"
        self._pace()
        once(memory, key, lambda: bot.find(key, thread), lambda: bot.post(text, blocks, key, thread))
        memory["failures told"] = told + 1
        self._spoke = time.monotonic()

    def _message(self, finished: bool) -> SlackMessage:
        metrics = self._metrics()
        rows, pings = [], dict.fromkeys(self._pings())
        for record in self.context.records():
            said = self._read_sink_data(record)
            rows.append(SlackRow.of(record, [*metrics, *said.additional_metrics]))
            if not record.success:
                pings |= dict.fromkeys(self._pings(said))
        failed = any(row.failed for row in rows)
        info, closing = self.context.info, self.context.closing
        return SlackMessage(
            session=self.context.session_name,
            environment=self.context.environment,
            rows=rows,
            planned=len(info.planned) if info else 0,
            running=self._running,
            finished=finished,
            changes=closing.changes if closing and finished else "",
            result=closing.result if closing and finished else "",
            headline=str(closing.verdict.get("headline") or "") if closing and finished else "",
            # A bot pings in the thread, where the failure stands; an edited message would not notify anybody.
            pings=tuple(pings)[:20] if failed and self._webhook is not None else (),
            key=f"session {self.context.session_name}",
            links={"viewer": info.viewer_url} if info and info.viewer_url else {},
        )

    def _metrics(self) -> list[str]:
        return [str(name) for name in self.config.get("default_metrics", ["exec_time_s"])]

    def _pings(self, said: SinkData = NOTHING) -> tuple[str, ...]:
        """People that the sink or the entry names; nobody where that is switched off."""
        switch = self.config.get("ping_users_on_failure", True)
        if switch is False:
            return ()
        more = tuple(map(str, switch)) if isinstance(switch, list) else ()
        return tuple(dict.fromkeys((*SinkData.parse(self.config).ping_on_failure, *more, *said.ping_on_failure)))

    def _webhook_url(self) -> str:
        named = self.config.get("webhook_env")
        url = self.config.get("webhook_url") or (os.environ.get(str(named)) if named else None)
        if not url:
            raise Unavailable(f"set {named} in the environment")
        return str(url)

    def _read_sink_data(self, record: Record) -> SinkData:
        return SinkData.parse(select_sink_data(record.sink_data, str(self.config.get("name"))))

    def _pace(self) -> None:
        pace = float(self.config.get("pace_s", _PACE_S))
        time.sleep(max(0.0, pace - (time.monotonic() - self._spoke)))

    def _announce(self, posted: str) -> None:
        assert self._bot is not None
        try:
            self.context.announce("Slack", self._bot.address(posted))
        except SinkFailure:
            # The message is there; only its address is not known.
            return
