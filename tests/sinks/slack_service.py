"""Slack as its API documentation describes it: authorisation, the limits of messages, threads, metadata, webhooks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from tests.sinks.moody_server import Answer, MoodyServer, Request

TOKEN, CHANNEL, HOOK = "xoxb-1234567890-abcdef", "C0123456789", "/services/T0000/B0000/hooksecretXYZ"


@dataclass
class Message:
    ts: str
    text: str
    blocks: list[dict[str, Any]]
    metadata: dict[str, Any] | None = None
    thread: str | None = None
    updates: int = 0


@dataclass
class Slack:
    messages: list[Message] = field(default_factory=list)
    hooked: list[dict[str, Any]] = field(default_factory=list)
    may_read: bool = True
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = MoodyServer(self._answer)

    @property
    def api(self) -> str:
        return f"{self.server.url}/api/"

    @property
    def hook(self) -> str:
        return f"{self.server.url}{HOOK}"

    def main(self) -> list[Message]:
        return [message for message in self.messages if message.thread is None]

    def thread(self, ts: str) -> list[Message]:
        return [message for message in self.messages if message.thread == ts]

    def _answer(self, request: Request) -> Answer:
        if request.route.startswith("/services/"):
            return self._webhook(request)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return _json({"ok": False, "error": "invalid_auth"})
        if "json" in request.headers.get("content-type", ""):
            said = json.loads(request.body)
        else:
            query = request.body.decode() or request.path.partition("?")[2]
            said = {key: values[-1] for key, values in parse_qs(query).items()}
        if said.get("channel") != CHANNEL:
            return _json({"ok": False, "error": "channel_not_found"})
        method = request.route.removeprefix("/api/").replace(".", "_")
        answer = getattr(self, f"_{method}", lambda said: {"ok": False, "error": "unknown_method"})(said)
        if not answer["ok"]:
            self.refused.append(answer["error"])
        return _json(answer)

    def _chat_postMessage(self, said: dict[str, Any]) -> dict[str, Any]:
        problem = check(said)
        thread = said.get("thread_ts")
        if thread and thread not in [message.ts for message in self.messages]:
            problem = "thread_not_found"
        if problem:
            return {"ok": False, "error": problem}
        ts = f"{1700000000 + len(self.messages)}.000100"
        self.messages.append(Message(ts, said["text"], said["blocks"], said.get("metadata"), thread))
        return {"ok": True, "ts": ts, "channel": CHANNEL}

    def _chat_update(self, said: dict[str, Any]) -> dict[str, Any]:
        [found] = [message for message in self.messages if message.ts == said["ts"]] or [None]
        problem = check(said) or (None if found else "message_not_found")
        if problem or found is None:
            return {"ok": False, "error": problem}
        found.text, found.blocks, found.updates = said["text"], said["blocks"], found.updates + 1
        return {"ok": True, "ts": found.ts}

    def _chat_getPermalink(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"ok": True, "permalink": f"https://example.slack.com/archives/{CHANNEL}/p{said['message_ts']}"}

    def _conversations_history(self, said: dict[str, Any]) -> dict[str, Any]:
        return self._read(said, self.main())

    def _conversations_replies(self, said: dict[str, Any]) -> dict[str, Any]:
        return self._read(said, self.thread(said["ts"]))

    def _read(self, said: dict[str, Any], found: list[Message]) -> dict[str, Any]:
        if not self.may_read:
            return {"ok": False, "error": "missing_scope", "needed": "channels:history"}
        with_metadata = str(said.get("include_all_metadata")).lower() in ("true", "1")
        shown = [
            {"ts": m.ts, "text": m.text, **({"metadata": m.metadata} if with_metadata else {})} for m in reversed(found)
        ]
        return {"ok": True, "messages": shown[: int(said.get("limit", 100))]}

    def _webhook(self, request: Request) -> Answer:
        if request.route != HOOK:
            return Answer(404, b"no_service")
        said = json.loads(request.body)
        problem = check(said)
        if problem:
            self.refused.append(problem)
            return Answer(400, problem.encode())
        self.hooked.append(said)
        return Answer(200, b"ok")


def check(said: dict[str, Any]) -> str | None:
    blocks = said.get("blocks") or []
    if not said.get("text"):
        return "no_text"
    if len(said["text"]) > 40_000:
        return "msg_too_long"
    if len(blocks) > 50 or not all(map(_valid, blocks)):
        return "invalid_blocks"
    if sum(len(json.dumps(block, ensure_ascii=False)) for block in blocks) > 13_100:
        return "msg_blocks_too_long"
    metadata = said.get("metadata")
    if metadata is not None and not (isinstance(metadata, dict) and metadata.get("event_type", "").islower()):
        return "invalid_metadata_format"
    return None


def _valid(block: dict[str, Any]) -> bool:
    if block["type"] == "header":
        return block["text"]["type"] == "plain_text" and 1 <= len(block["text"]["text"]) <= 150
    if block["type"] == "section":
        return block["text"]["type"] in ("mrkdwn", "plain_text") and 1 <= len(block["text"]["text"]) <= 3000
    if block["type"] == "context":
        return 1 <= len(block["elements"]) <= 10 and all(1 <= len(e["text"]) <= 3000 for e in block["elements"])
    return block["type"] == "divider"


def _json(answer: dict[str, Any]) -> Answer:
    return Answer(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})


def all_text(blocks: list[dict[str, Any]]) -> str:
    texts = []
    for block in blocks:
        texts += [block["text"]["text"]] if "text" in block else [element["text"] for element in block["elements"]]
    return "\n".join(texts)
