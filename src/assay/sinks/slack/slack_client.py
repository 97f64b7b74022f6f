"""Slack through its official client, each failure told as what it means for the outbox. The client's own retries are
off: the outbox waits as long as Slack asks (Retry-After) and loses nothing when the process ends meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any

from assay.errors import MissingExtra
from assay.sinks.failure import Rejected, Unavailable
from assay.sinks.http_target import raise_for_status

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
