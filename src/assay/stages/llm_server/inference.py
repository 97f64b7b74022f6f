from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from assay.errors import UsageError
from assay.files.reading import NAMED, Unreadable, read_text
from assay.loadgen.http.http_client import ClientLimits
from assay.loadgen.http.target import Target
from assay.pipeline.stage import Stage, StreamStage, Worker
from assay.record.metric import Metric
from assay.stages.llm_server.answer_stream import AnswerPiece, AnswerStreams
from assay.stages.llm_server.started_server import StartedServer
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.pytorch.tiny_model import tiny_rows


class PromptLoader(Stage[int, str]):
    """Texts for a server: given here, read from a file with one a line, or made up. Query n gets text n."""

    name = "prompt loader"

    def __init__(self, prompts: Sequence[str] | None = None, path: str | None = None) -> None:
        if prompts is not None and path is not None:
            raise ValueError("prompts and path: give one of them")
        if prompts is not None and (isinstance(prompts, str) or not prompts):
            raise ValueError("prompts must be a list of at least one text")
        self.given = prompts
        self.path = path
        self._prompts: list[str] = []

    def setup(self, worker: Worker) -> None:
        if self.given is not None:
            self._prompts = [str(prompt) for prompt in self.given]
        elif self.path is not None:
            self._prompts = _lines(Path(self.path).expanduser())
        else:
            self._prompts = [f"{row.instruction} {row.input}".strip() for row in tiny_rows()]

    def __len__(self) -> int:
        return len(self._prompts)

    def process(self, data: int) -> str:
        return self._prompts[data % len(self._prompts)]


def _lines(path: Path) -> list[str]:
    try:
        lines = [line.strip() for line in read_text(path, NAMED).splitlines() if line.strip()]
    except FileNotFoundError:
        raise UsageError(f"PromptLoader: path: {path} does not exist") from None
    except Unreadable as error:
        raise UsageError(f"PromptLoader: path: {error}") from None
    if not lines:
        raise UsageError(f"PromptLoader: path: {path} has no line with a prompt")
    return lines


_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_WARM_UP = "warm-up"


class ServerInference(StreamStage[Any, AnswerPiece]):
    """Asks an OpenAI-compatible server, and passes on each piece of the answer as it comes.

    A query is one request: a text, messages of a conversation, or a batch of one prompt. Set-up sends one request that
    is not measured, so that a model which the server loads at its first request is loaded.
    """

    name = "inference"

    def __init__(
        self,
        url: str | None = None,
        model: str | Mapping[str, Any] | None = None,
        endpoint: Literal["chat", "completions"] = "chat",
        stream: bool = True,
        system: str | None = None,
        max_new_tokens: int | None = None,
        temperature: float | None = None,
        extra_body: Mapping[str, Any] | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        timeout_s: float = 600.0,
        warmup: bool = True,
        server: Mapping[str, Any] | None = None,
    ) -> None:
        if (url is None) == (server is None):
            raise ValueError("needs either `url` (a server that runs) or `server` (one that this stage starts)")
        if endpoint not in _PATHS:
            raise ValueError(f"endpoint must be chat or completions, not {endpoint!r}")
        if max_new_tokens is not None and max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be at least 1, not {max_new_tokens}")
        if timeout_s <= 0:
            raise ValueError(f"timeout_s must be above 0, not {timeout_s}")
        if url is not None:
            Target.parse(url)
        options = {"name": model} if isinstance(model, str) or model is None else dict(model)
        self.model = options.get("name")
        self.url = url
        self.endpoint = endpoint
        self.stream = stream
        self.system = system
        self.extra = dict(extra_body or {})
        for key, value in (("max_tokens", max_new_tokens), ("temperature", temperature)):
            given = options.get(key) if value is None else value
            if given is not None:
                self.extra.setdefault(key, given)
        self.api_key_env = api_key_env
        self.timeout_s = timeout_s
        self.warmup = warmup
        self.server = None if server is None else StartedServer.read(server)
        self._counted = True
        self._forget()

    def _forget(self) -> None:
        self._prompt_tokens = self._answer_tokens = self._answers = 0

    def setup(self, worker: Worker) -> None:
        url = self.url if self.server is None else self.server.start(os.environ)
        assert url is not None
        base = url.rstrip("/")
        key = os.environ.get(self.api_key_env)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._target = Target.parse(base if base.endswith("/v1") else f"{base}/v1", headers)
        limits = ClientLimits(idle_s=self.timeout_s, total_s=self.timeout_s)
        self._streams = AnswerStreams(self._target, limits)
        if self.warmup:
            pieces = list(self._ask([{"role": "user", "content": _WARM_UP}]))
            self._counted = any(piece.answer_tokens is not None for piece in pieces)

    def process(self, data: Any) -> Iterator[AnswerPiece]:
        return self._ask(_messages(data, self.system))

    def _ask(self, messages: list[Mapping[str, Any]]) -> Iterator[AnswerPiece]:
        body: dict[str, Any] = {} if self.model is None else {"model": self.model}
        if self.endpoint == "chat":
            body["messages"] = messages
        else:
            body["prompt"] = "\n\n".join(str(message["content"]) for message in messages)
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        words = json.dumps({**body, **self.extra}).encode()
        return self._streams.ask(self._target.message(_PATHS[self.endpoint], words))

    def collected(self, items: list[AnswerPiece]) -> AnswerBatch:
        """Tokens as the server counts them; where it does not, pieces with text."""
        prompt = next((item.prompt_tokens for item in reversed(items) if item.prompt_tokens is not None), 0)
        answer = next((item.answer_tokens for item in reversed(items) if item.answer_tokens is not None), None)
        count = sum(1 for item in items if item.text) if answer is None else answer
        self._answers += 1
        self._prompt_tokens += prompt
        self._answer_tokens += count
        return AnswerBatch(("".join(item.text for item in items),), (prompt,), (count,))

    def start_measuring(self) -> None:
        self._forget()

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("answers", self._answers, exact=True),
            Metric("prompt_tokens", self._prompt_tokens, exact=True),
            Metric("answer_tokens", self._answer_tokens, exact=True),
        )

    def notes(self) -> Sequence[str]:
        if self._counted:
            return ()
        return ("the server does not say how many tokens it used: pieces of the answer with text are counted",)

    def teardown(self) -> None:
        if hasattr(self, "_streams"):
            self._streams.close()
        if self.server is not None:
            self.server.end()


def _messages(data: Any, system: str | None) -> list[Mapping[str, Any]]:
    """A text, a batch of one prompt, or messages with `role` and `content`."""
    before: list[Mapping[str, Any]] = [] if system is None else [{"role": "system", "content": system}]
    if isinstance(data, Mapping):
        data = data.get("messages", data.get("prompt"))
    if isinstance(data, PromptBatch):
        data = data.prompts
    if isinstance(data, str):
        return [*before, {"role": "user", "content": data}]
    items = list(data) if isinstance(data, list | tuple) else []
    if items and all(isinstance(item, Mapping) and {"role", "content"} <= item.keys() for item in items):
        return [*before, *items]
    if len(items) == 1 and isinstance(items[0], str):
        return [*before, {"role": "user", "content": items[0]}]
    if items and all(isinstance(item, str) for item in items):
        raise UsageError(
            f"Inference of llm_server was given {len(items)} prompts in one query: a request has one; set batch_size: 1"
        )
    raise UsageError(
        f"Inference of llm_server was given a {type(data).__name__}: it takes a text, messages with role and content, "
        "or a batch of one prompt"
    )
