"""Servers that do not do what is asked of them: one message each, nothing hangs, what was measured is kept."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence

import pytest

from assay.errors import AssayError
from assay.loadgen.http.http_client import TargetUnreachable
from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ConnectionEnding,
    ScriptedReply,
    ScriptedServer,
    answer,
    chat_event,
    null_replies,
)
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.run_load import run_load
from assay.loadgen.serving.served_models import ServerRefused

GOOD = [(0.0, STREAM_HEAD + chat_event({"content": "hi"}, finish="stop") + DONE + STREAM_END)]


def _settings(url: str, **given: object) -> LoadSettings:
    named = {"model": "m", "requests": 3, "prompt_tokens": "4", "max_tokens": "4", **given}
    return LoadSettings(url=url, **named)  # type: ignore[arg-type]


def _refusal(
    pieces: Sequence[tuple[float, bytes]], ending: ConnectionEnding = ConnectionEnding.KEEP, **given: object
) -> str:
    with ScriptedServer([ScriptedReply(pieces, ending)]) as server, pytest.raises(ServerRefused) as error:
        run_load(_settings(server.url, **given))
    assert error.value.exit_code == 1
    return str(error.value).replace(server.url, "URL")


def _error(status: str, document: object) -> list[tuple[float, bytes]]:
    return [(0.0, answer(status, json.dumps(document).encode()))]


def test_no_such_host() -> None:
    with pytest.raises(AssayError, match=r"the host 'nowhere\.invalid' is not known"):
        run_load(_settings("http://nowhere.invalid:8000"))


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(TargetUnreachable, match="no connection can be made: Connection refused"):
        run_load(_settings(f"http://127.0.0.1:{port}"))


def test_a_wrong_path() -> None:
    assert _refusal(_error("404 Not Found", {"detail": "Not Found"})) == (
        "URL/v1/chat/completions: 404: Not Found; is this the right address, and does the server have this endpoint?"
    )


def test_a_model_that_does_not_exist() -> None:
    said = _refusal(_error("404 Not Found", {"error": {"message": "The model `m` does not exist."}}))
    assert said == (
        "URL/v1/chat/completions: 404: The model `m` does not exist.; is 'm' the model's name? "
        "GET URL/v1/models lists what the server has"
    )


def test_a_key_that_is_refused_is_not_repeated() -> None:
    echo = {"error": {"message": "Incorrect API key provided: sk-very-secret-1"}}
    said = _refusal(_error("401 Unauthorized", echo), key="sk-very-secret-1")
    assert said.startswith("URL/v1/chat/completions: 401: Incorrect API key provided: ****")
    assert "very-secret" not in said
    assert "OPENAI_API_KEY" in said


def test_html_instead_of_json() -> None:
    page = [(0.0, answer("200 OK", b"<html><body>Welcome</body></html>", "text/html"))]
    assert _refusal(page) == (
        "URL/v1/chat/completions: the answer is not JSON: <html><body>Welcome</body></html>; is this the right "
        "address, and --endpoint the right one?"
    )


def test_a_stream_that_never_ends() -> None:
    said = _refusal([(0.0, STREAM_HEAD), *[(0.05, chat_event({"content": "x"}))] * 200], total_s=0.5)
    assert said == (
        "URL/v1/chat/completions: the answer was not complete within the time limit; --request-timeout says how long "
        "an answer may take"
    )


def test_a_server_that_says_nothing() -> None:
    assert _refusal([(30.0, b"x")], idle_s=0.4) == (
        "URL/v1/chat/completions: the server sent nothing for longer than the time limit; --idle-timeout says how long "
        "a server may be silent"
    )


def test_a_stream_that_ends_too_early() -> None:
    assert "cut off before its end" in _refusal(
        [(0.0, STREAM_HEAD + chat_event({"content": "x"}))], ConnectionEnding.CLOSE
    )


def test_the_model_is_asked_of_the_server() -> None:
    with ScriptedServer(null_replies(4)) as server:
        point = run_load(_settings(server.url, model=None))
    assert point.answered == 3
    models = answer("200 OK", json.dumps({"data": [{"id": "a"}, {"id": "b"}]}).encode())
    said = _refusal([(0.0, models)], model=None)
    assert said == "URL/v1/models: the server has 2 models (a, b): give --model"
    said = _refusal(_error("401 Unauthorized", {"error": {"message": "no key"}}), model=None)
    assert said == (
        "URL/v1/models: which model does the server have? It answered: 401 no key; is the key right? It is taken from "
        "OPENAI_API_KEY, or from the variable that --api-key-env names"
    )
    said = _refusal([(0.0, answer("200 OK", b"<html>", "text/html"))], model=None)
    assert said.startswith("URL/v1/models: the answer is no list of models: <html>")


def test_what_was_measured_before_a_server_failed_is_kept() -> None:
    bad = ScriptedReply(_error("500 Internal Server Error", {"error": "boom"}))
    replies = [ScriptedReply(GOOD), ScriptedReply(GOOD), bad, ScriptedReply(GOOD, ConnectionEnding.RESET)]
    with ScriptedServer(replies, in_turn=True) as server:
        point = run_load(_settings(server.url, requests=12, warmup=1))
    assert point.answered >= 3
    assert point.errors["status_5xx"] == 3
    assert point.answered + point.error_count == 12
    assert "500: boom" in point.replies.messages
    assert len(point.times.values("latency_s")) == point.answered


def test_every_other_endpoint_answers() -> None:
    with ScriptedServer(null_replies(6)) as server:
        whole = run_load(_settings(server.url, streamed=False))
        text = run_load(_settings(server.url, endpoint="completions"))
        vectors = run_load(_settings(server.url, endpoint="embeddings"))
        plain = run_load(_settings(server.url + "/health", endpoint="http"))
    for point in (whole, text, vectors, plain):
        assert (point.answered, point.error_count) == (3, 0)
    assert whole.tokens.output.tolist() == [6, 6, 6]
    assert len(text.times.values("ttft_s")) == 3
    assert len(vectors.times.values("ttft_s")) == 0
