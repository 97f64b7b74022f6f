"""Services that answer anything: a session's sinks talk to one, and a weight store to an S3 server behind one."""

from __future__ import annotations

import atexit
import os
import random
from collections import Counter
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import fsspec
import numpy as np
from readings import assay, tried
from s3_server import s3_server
from tests.sinks.moody_server import Answer, MoodyServer, Request, forward_to
from tests.sinks.sessions import Told, a_record

from assay.weights.repository import Repository
from campaign.damage import damaged_json, packed, unpacked
from campaign.kind import Case, Trial

RIGHT: tuple[Any, ...] = (
    {"ok": True, "ts": "1.2", "channel": "C1", "permalink": "https://example.org/", "messages": [{"ts": "1.2"}]},
    {"experiment": {"experiment_id": "1", "name": "assay", "lifecycle_stage": "active", "tags": [{"key": "a",
    "value": "b"}]}},
    {"run": {"info": {"run_id": "r", "experiment_id": "1", "status": "RUNNING", "start_time": 1, "artifact_uri": "x"},
             "data": {"metrics": [{"key": "a", "value": 1}]}}, "runs": [], "next_page_token": "t"},
    {"partialSuccess": {"rejectedDataPoints": 3, "errorMessage": "no"}, "status": "success", "error_code": "X"},
)  # fmt: skip
SINKS = ("otlp", "prometheus", "grafana", "slack", "bot", "mlflow")
STATUSES = (200, 200, 200, 201, 204, 206, 301, 302, 307, 400, 401, 403, 404, 409, 412, 413, 418, 429, 500, 502, 503,
            504)  # fmt: skip
HEADERS = ({}, {}, {"Retry-After": "1e999"}, {"Retry-After": "0"}, {"Location": "/again"},
           {"Content-Encoding": "gzip"},
           {"Content-Type": "application/json; charset=ebcdic"}, {"Set-Cookie": "x" * 5000},
           {"ETag": "\x80"})  # fmt: skip

ENTITY = b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><ListBucketResult><Key>&b;</Key></ListBucketResult>"
ODD = (b"", b"<html>", b"\x1f\x8b" + bytes(20), b"x" * 300_000, ENTITY)


def drawn_answers(rng: random.Random, count: int) -> list[dict[str, Any]]:
    answers = []
    for _ in range(count):
        body = damaged_json(rng.choice(RIGHT), rng)
        if rng.random() < 0.3:
            body = rng.choice((*ODD, rng.randbytes(300)))
        answers.append({"status": rng.choice(STATUSES), "headers": rng.choice(HEADERS), "body": packed(body)})
    return answers


def given(answers: list[dict[str, Any]]) -> list[Answer]:
    return [Answer(answer["status"], unpacked(answer["body"]), answer["headers"]) for answer in answers]


class SinkAnswers:
    name, share, seconds = "answers", 1.5, 120.0

    def draw(self, rng: random.Random) -> Case:
        weights = (3, 3, 3, 3, 3, 1)
        return {"sink": rng.choices(SINKS, weights)[0], "answers": drawn_answers(rng, 6)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        answers = given(case["answers"])
        number = 0

        def next_answer(request: Request) -> Answer:
            nonlocal number
            number += 1
            return answers[number % len(answers)]

        server = MoodyServer(next_answer)
        trial = Trial(Counter({case["sink"]: 1}))
        os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"
        told = Told(folder, [_spec(case["sink"], server.url), {"name": "jsonl"}], linger_s=5)
        for record in (a_record(1), a_record(2)):
            told.run(record)
        _, file = told.end(wait_s=20)
        server.stop()
        trial.tried["answers"] += number
        if file.state != "delivered" or file.delivered < 6:
            trial.found.append(f"jsonl beside it is {file}")
        log = folder / "nightly/outbox/delivery.log"
        if log.exists() and "Traceback" in log.read_text(errors="replace"):
            trial.found.append(f"a traceback: {log.read_text(errors='replace')[-2000:]}")
        shown = assay("sinks", "status", "nightly", "--results-dir", str(folder))
        found = tried("sinks status", lambda: shown)
        trial.found += [str(found)] if found else []
        return trial


class S3Answers:
    """Wrong answers in front of a true S3 server: what was acknowledged is there, whatever became of single answers."""

    name, share, seconds = "s3", 1.0, 300.0

    def draw(self, rng: random.Random) -> Case:
        answers = [answer for answer in drawn_answers(rng, 12) if answer["status"] >= 300]
        return {"answers": answers, "every": rng.choice((2, 3, 7)), "seed": rng.randrange(2**32)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        port = urlsplit(_s3_address()).port or 0
        rng, true = random.Random(case["seed"]), forward_to(port)
        answers = given(case["answers"]) or [Answer(503)]

        def answer(request: Request) -> Answer:
            if rng.randrange(case["every"]):
                return true(request)
            if rng.random() < 0.3:
                true(request)  # carried out, and then said not to be
            return rng.choice(answers)

        server, bucket = MoodyServer(true), f"s3://assay/{case['seed']}"
        os.environ["AWS_ENDPOINT_URL"] = server.url
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        trial = Trial()
        repository = Repository.init(folder / "repo")
        pushed = {}
        try:
            for turn in range(3):
                server.handle = answer
                branch = f"b{turn}"
                tip = repository.commit({"a": np.full(100, turn, np.float32)}, branch, branch=branch)
                words = ("weights", "push", str(folder / "repo"), bucket, "--branch", branch)
                trial.tried["pushes"] += 1
                found = tried("push", partial(_kept, assay, words, pushed, branch, tip))
                trial.found += [str(found)] if found else []
                read = ("weights", "clone", bucket, str(folder / f"copy{turn}"))
                trial.tried["clones"] += 1
                found = tried("clone", partial(assay, *read))
                trial.found += [str(found)] if found else []
            trial.tried["answers"] += len(server.seen)
            server.handle = true
            trial.found += self._check(folder, bucket, pushed)
        finally:
            server.stop()
        return trial

    def _check(self, folder: Path, bucket: str, pushed: dict[str, str]) -> list[str]:
        if not pushed:
            return []
        answer = assay("weights", "clone", bucket, str(folder / "whole"))
        if answer.code:
            return [f"what was acknowledged cannot be cloned: {answer.err}"]
        copy = Repository.open(folder / "whole")
        lost = {name for name, tip in pushed.items() if copy.references.branches.get(name) != tip}
        return [f"lost: {sorted(lost)}"] * bool(lost) + list(copy.verify().problems)


def _kept(run: Any, words: tuple[str, ...], pushed: dict[str, str], branch: str, tip: str) -> Any:
    answer = run(*words)
    if answer.code == 0:
        pushed[branch] = tip
    return answer


_OPEN = ExitStack()


@cache
def _s3_address() -> str:
    """One server for all cases of a turn; it ends with the process."""
    _OPEN.enter_context(s3_server())
    atexit.register(_OPEN.close)
    return os.environ["AWS_ENDPOINT_URL"]


def _spec(sink: str, url: str) -> dict[str, Any]:
    return {
        "otlp": {"name": "otlp", "endpoint": url},
        "prometheus": {"name": "prometheus", "endpoint": url},
        "grafana": {"name": "grafana", "endpoint": url},
        "slack": {"name": "slack", "webhook_url": f"{url}/services/T/B/x"},
        "bot": {"name": "slack", "bot_token": "xoxb-1", "channel_id": "C1", "base_url": f"{url}/api/",
        "live_updates": True,
                "pace_s": 0},
        "mlflow": {"name": "mlflow", "tracking_uri": url},
    }[sink]  # fmt: skip
