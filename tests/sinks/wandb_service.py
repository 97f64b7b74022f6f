"""W&B's API as its client uses it online: the account, runs by id (made, or resumed with what they have), the stream
of a run's lines, which are placed by their offset."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.sinks.moody_server import Answer, MoodyServer, Request

KEY = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Run:
    name: str
    display: str = ""
    group: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    lines: dict[int, str] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None

    @property
    def history(self) -> list[dict[str, Any]]:
        assert sorted(self.lines) == list(range(len(self.lines)))
        return [json.loads(self.lines[place]) for place in sorted(self.lines)]


@dataclass
class Wandb:
    runs: dict[str, Run] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = MoodyServer(self._answer)

    def finished(self) -> Counter[str]:
        return Counter(run.display for run in self.runs.values() if run.exit_code == 0)

    def _answer(self, request: Request) -> Answer:
        if request.route.startswith("/sdk/otel"):
            return Answer(200, b"{}")
        if request.route.startswith("/upload/"):
            return Answer(200)
        expected = "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode()
        if request.headers.get("authorization") != expected:
            return _json({"errors": [{"message": "permission denied"}]}, 401)
        packed = request.headers.get("content-encoding") == "gzip"
        said = json.loads(gzip.decompress(request.body) if packed else request.body)
        if request.route == "/graphql":
            return _json({"data": self._graphql(said)})
        stream = re.fullmatch(r"/files/me/bench/(\w+)/file_stream", request.route)
        return self._stream(self.runs[stream[1]], said) if stream else _json({}, 404)

    def _graphql(self, said: dict[str, Any]) -> dict[str, Any]:
        variables, name = said["variables"], said["operationName"]
        if name == "Viewer":
            return {"viewer": {"id": "u", "entity": "me", "username": "me", "flags": "{}", "teams": {"edges": []}}}
        if name == "RunResumeStatus":
            return {"model": {"id": "p", "name": "bench", "entity": _ENTITY, "bucket": self._bucket(variables["name"])}}
        if name == "UpsertBucket":
            run = self.runs.setdefault(variables["name"], Run(variables["name"]))
            run.display, run.group = variables["displayName"] or run.display, variables["groupName"] or run.group
            run.config = json.loads(variables["config"] or "{}") or run.config
            bucket = {"id": run.name, "name": run.name, "displayName": run.display, "description": "", "config": "{}"}
            bucket |= {"sweepName": None, "project": _PROJECT, "historyLineCount": len(run.lines)}
            return {"upsertBucket": {"bucket": bucket, "inserted": True}}
        if name == "CreateRunFiles":
            files = [{"name": file, "uploadUrl": f"{self.server.url}/upload/{file}"} for file in variables["files"]]
            return {"createRunFiles": {"runID": variables["run"], "uploadHeaders": [], "files": files}}
        self.unknown.append(name)
        return {}

    def _bucket(self, name: str) -> dict[str, Any] | None:
        run = self.runs.get(name)
        if run is None:
            return None
        tail = [run.lines[place] for place in sorted(run.lines)][-1:]
        return {
            "id": run.name,
            "name": run.name,
            "displayName": run.display,
            "summaryMetrics": json.dumps(run.summary),
            "logLineCount": 0,
            "eventsLineCount": 0,
            "historyLineCount": len(run.lines),
            "historyTail": json.dumps(tail),
            "eventsTail": "[]",
            "config": json.dumps(run.config),
            "tags": [],
            "notes": None,
            # The client takes up only a run that has begun: one whose telemetry is known.
            "wandbConfig": json.dumps({"t": run.config["_wandb"]["value"]["t"]} if "_wandb" in run.config else {}),
        }

    def _stream(self, run: Run, said: dict[str, Any]) -> Answer:
        for file, part in (said.get("files") or {}).items():
            if file == "wandb-history.jsonl":
                for place, line in enumerate(part["content"], part["offset"]):
                    run.lines[place] = line
            if file == "wandb-summary.json":
                run.summary = json.loads(part["content"][-1])
        if said.get("complete"):
            run.exit_code = said.get("exitcode")
        return _json({"exitcode": None, "limits": {}})


_ENTITY = {"id": "e", "name": "me"}
_PROJECT = {"id": "p", "name": "bench", "entity": _ENTITY}


def _json(told: dict[str, Any], status: int = 200) -> Answer:
    return Answer(status, json.dumps(told).encode(), {"Content-Type": "application/json"})
