"""A stage that asks a server: each piece is passed on when it comes, and what goes wrong is said."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from assay.errors import AssayError, UsageError
from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ConnectionEnding,
    ScriptedReply,
    ScriptedServer,
    answer,
    chat_event,
    chunk,
    null_replies,
    usage_event,
)
from assay.pipeline.stage import Worker
from assay.stages.llm_server import Inference, PromptLoader
from assay.stages.llm_server.answer_stream import ServerFailed
from assay.stages.pytorch.prompt_batch import PromptBatch


@pytest.fixture
def stage() -> Iterator[Any]:
    """A stage on a server that answers by a script."""
    made: list[tuple[ScriptedServer, Inference]] = []

    def make(replies: Sequence[ScriptedReply], **keys: Any) -> Inference:
        server = ScriptedServer(replies)
        server.start()
        inference = Inference(url=server.url, **{"warmup": False, **keys})
        made.append((server, inference))
        inference.setup(Worker())
        return inference

    yield make
    for server, inference in made:
        inference.teardown()
        server.stop()


def said(inference: Inference, prompt: Any = "hello") -> str:
    return inference.collected(list(inference.process(prompt))).texts[0]


def test_a_streamed_answer_comes_piece_by_piece_with_the_servers_count(stage: Any) -> None:
    inference = stage(null_replies(4, gap_s=0.15))
    pieces, at = [], []
    begun = time.monotonic()
    for piece in inference.process("hello"):
        pieces.append(piece)
        at.append(time.monotonic() - begun)
    batch = inference.collected(pieces)
    assert batch.texts == ("word0 word1 word2 word3 ",)
    assert (batch.prompt_tokens, batch.answer_tokens) == ((16,), (4,))
    assert at[0] < at[-1] - 0.3
    assert {metric.name: metric.value for metric in inference.measured()}["answer_tokens"] == 4


@pytest.mark.parametrize(("endpoint", "stream"), [("chat", False), ("completions", True), ("completions", False)])
def test_other_ways_of_asking(stage: Any, endpoint: str, stream: bool) -> None:
    assert said(stage(null_replies(3), endpoint=endpoint, stream=stream)) == "word0 word1 word2 "


@pytest.mark.parametrize(
    "prompt",
    [
        "hello",
        ["hello"],
        PromptBatch(("hello",)),
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}],
        {"messages": [{"role": "user", "content": "hello"}]},
    ],
)
def test_forms_of_a_query(stage: Any, prompt: Any) -> None:
    assert said(stage(null_replies(2)), prompt) == "word0 word1 "


def test_a_batch_of_two_prompts_is_refused(stage: Any) -> None:
    inference = stage(null_replies(2))
    with pytest.raises(UsageError, match="given 2 prompts in one query: a request has one; set batch_size: 1"):
        inference.process(["a", "b"])
    with pytest.raises(UsageError, match="was given a int"):
        inference.process(7)


def test_events_cut_at_any_place_are_put_together(stage: Any) -> None:
    data = b"".join(
        bytes(part).partition(b"\r\n")[2][:-2]
        for part in (chat_event({"content": "äpfel "}), chat_event({"content": "birnen"}), usage_event(2), DONE)
    )
    pieces = [
        (0.0, STREAM_HEAD),
        *((0.0, chunk(data[at : at + 7])) for at in range(0, len(data), 7)),
        (0.0, STREAM_END),
    ]
    assert said(stage([ScriptedReply(pieces)])) == "äpfel birnen"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            ScriptedReply([(0, answer("404 Not Found", b'{"detail": "no such model"}'))]),
            r"\(4xx\).*status 404.*no such",
        ),
        (ScriptedReply([(0, answer("500 Oops", b"boom"))]), r"\(5xx\) \(status 500: boom\)"),
        (ScriptedReply([(0, answer("200 OK", b"<html>", "text/html"))]), "sent what is no JSON: <html>"),
        (
            ScriptedReply([(0, STREAM_HEAD + chat_event({"content": "a"}))], ConnectionEnding.CLOSE),
            "the answer was cut off before its end",
        ),
        (ScriptedReply([(0, STREAM_HEAD + chunk(b'data: {"error": "full"}\n\n'))]), "the server says that it failed"),
        (ScriptedReply([(0, b"SSH-2.0-OpenSSH\r\n\r\n")]), "the answer is not HTTP/1.1"),
        (ScriptedReply([(0, STREAM_HEAD), (30, STREAM_END)]), "was not complete within the time limit"),
    ],
)
def test_what_goes_wrong_is_said(stage: Any, reply: ScriptedReply, message: str) -> None:
    inference = stage([reply], timeout_s=1.0)
    with pytest.raises(ServerFailed, match=message):
        said(inference)


def test_a_server_that_is_not_there(stage: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    inference = Inference(url=f"http://127.0.0.1:{port}")
    with pytest.raises(ServerFailed, match="refused or could not be made"):
        inference.setup(Worker())


def test_a_kept_connection_that_the_server_closed_is_made_anew(stage: Any) -> None:
    (reply, *_) = null_replies(2)
    inference = stage([ScriptedReply(reply.pieces, ConnectionEnding.CLOSE)])
    assert said(inference) == said(inference) == "word0 word1 "


def test_a_server_of_its_own_is_started_and_ended() -> None:
    command = "{python} -m assay.loadgen.http.server --tokens 2 --port {port}"
    inference = Inference(server={"command": command, "ready_timeout_s": 60})
    inference.setup(Worker())
    process = inference.server._process  # type: ignore[union-attr]
    assert said(inference) == "word0 word1 "
    assert process is not None
    inference.teardown()
    assert process.poll() is not None


def test_a_server_that_ends_says_its_last_words() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no model {port}')"]
    with pytest.raises(AssayError, match="the server ended with code 1 before it was ready: no model"):
        Inference(server={"command": command}).setup(Worker())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "needs either `url`"),
        ({"url": "ftp://x"}, "http:// or https://"),
        ({"url": "http://x", "endpoint": "chats"}, "endpoint must be chat or completions"),
        ({"server": {"comand": "x"}}, "server: unknown key 'comand'; did you mean 'command'?"),
        ({"url": "http://x", "max_new_tokens": 0}, "at least 1"),
    ],
)
def test_wrong_keys(keys: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, UsageError)) as error:
        Inference(**keys)
    assert message in str(error.value)


def test_prompts(tmp_path: Any) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("one\n\ntwo\n")
    loader = PromptLoader(path=str(path))
    loader.setup(Worker())
    assert [loader.process(at) for at in range(len(loader))] == ["one", "two"]
    made = PromptLoader()
    made.setup(Worker())
    assert len(made) == 512
    with pytest.raises(UsageError, match="does not exist"):
        PromptLoader(path=str(tmp_path / "none")).setup(Worker())
