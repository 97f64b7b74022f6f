"""Which model a server has, asked of the server itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.errors import DataError, UsageError
from assay.files.json_text import parse_json
from assay.files.reading import NAMED, Unreadable, read_bytes
from assay.loadgen.http.target import Target
from assay.loadgen.serving.load_settings import EndpointKind, LoadSettings

_PATHS = {
    "chat": "/chat/completions", "completions": "/completions", "responses": "/responses", "embeddings": "/embeddings",
}  # fmt: skip
_MARK = "\u241f the prompt \u241f"
"""Stands for the prompt in a form: a text that no request has by itself."""
Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Endpoint:
    """Where requests go, and how one is written."""

    kind: EndpointKind
    target: Target
    path: str
    streamed: bool
    model: str | None = None
    extra: Mapping[str, Any] | None = None
    template: str | None = None
    method: str = "POST"

    @classmethod
    def of(cls, settings: LoadSettings) -> Endpoint:
        url, _, query = settings.url.partition("?")
        kind = settings.endpoint
        if "://" not in url:
            url = f"http://{url}"
        url = url.rstrip("/")
        if kind == "http":
            parts = urlsplit(url)
            path = (parts.path or "/") + (f"?{query}" if query else "")
            url = f"{parts.scheme}://{parts.netloc}"
        else:
            if query:
                raise UsageError(f"{settings.url!r}: the address of an OpenAI-compatible server has no ? part")
            url = next((url.removesuffix(end) for end in _PATHS.values() if url.endswith(end)), url)
            url, path = url if url.endswith("/v1") else f"{url}/v1", _PATHS[kind]
        target = Target.parse(url, _headers(settings), not settings.insecure, settings.ca_file)
        template = _template(settings.body)
        method = settings.method or ("GET" if kind == "http" and template is None else "POST")
        return cls(kind, target, path, settings.streamed, settings.model, _extra(settings.extra_body), template, method)

    @property
    def url(self) -> str:
        return self.target.url + self.path

    def message(self, messages: Messages, max_tokens: int | None) -> bytes:
        """A whole request as bytes: `messages` is what was said so far, the new prompt last."""
        if self.kind == "http":
            return self._http(str(messages[-1]["content"]), max_tokens)
        body = self._body(messages, max_tokens)
        return self.target.message(self.path, json.dumps({**body, **(self.extra or {})}).encode())

    def prompt_messages(self, prompts: Sequence[tuple[str, int]]) -> list[bytes]:
        """Requests for pairs of a prompt and its longest answer, as `message` writes them; what does not differ is
        written only once for each length."""
        if self.kind == "http":
            return [self._http(prompt, max_tokens) for prompt, max_tokens in prompts]
        forms: dict[int, tuple[bytes, bytes, bytes, bytes]] = {}
        made = []
        for prompt, max_tokens in prompts:
            if max_tokens not in forms:
                forms[max_tokens] = self._form(max_tokens)
            head, rest, before, after = forms[max_tokens]
            said = encode_basestring_ascii(prompt).encode()
            size = len(before) + len(said) + len(after)
            made.append(b"%s%d%s%s%s%s" % (head, size, rest, before, said, after))
        return made

    def _form(self, max_tokens: int) -> tuple[bytes, bytes, bytes, bytes]:
        """The parts of a request around its length and its prompt."""
        message = self.message([{"role": "user", "content": _MARK}], max_tokens)
        head, _, body = message.partition(b"\r\n\r\n")
        before, _, after = body.partition(json.dumps(_MARK).encode())
        first, _, rest = head.partition(b"Content-Length: %d" % len(body))
        return first + b"Content-Length: ", rest + b"\r\n\r\n", before, after

    def _body(self, messages: Messages, max_tokens: int | None) -> dict[str, Any]:
        body: dict[str, Any] = {} if self.model is None else {"model": self.model}
        prompt = "\n\n".join(str(message["content"]) for message in messages)
        if self.kind == "embeddings":
            return {**body, "input": prompt}
        if self.kind == "responses":
            body |= {"input": prompt if len(messages) == 1 else list(messages)}
            body |= {} if max_tokens is None else {"max_output_tokens": max_tokens}
        else:
            body |= {"prompt": prompt} if self.kind == "completions" else {"messages": list(messages)}
            body |= {} if max_tokens is None else {"max_tokens": max_tokens}
        if not self.streamed:
            return body
        body["stream"] = True
        return body if self.kind == "responses" else {**body, "stream_options": {"include_usage": True}}

    def _http(self, prompt: str, max_tokens: int | None) -> bytes:
        if self.template is None:
            return self.target.message(self.path, method=self.method)
        values = {"{prompt}": json.dumps(prompt)[1:-1], "{max_tokens}": str(max_tokens or "")}
        body = self.template
        for name, value in values.items():
            body = body.replace(name, value)
        kind = "application/json" if body.lstrip().startswith(("{", "[")) else "text/plain; charset=utf-8"
        return self.target.message(self.path, body.encode(), self.method, kind)


def _headers(settings: LoadSettings) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}
    for written in settings.headers:
        name, colon, value = written.partition(":")
        if not colon:
            raise UsageError("--header takes NAME:VALUE")
        headers[name.strip()] = value.strip()
    return headers


def _extra(written: str | None) -> Mapping[str, Any] | None:
    if written is None:
        return None
    try:
        extra = parse_json(written.encode(), "--extra-body")
    except Unreadable as error:
        raise UsageError(str(error)) from None
    if not isinstance(extra, dict):
        raise UsageError("--extra-body must be a JSON object, for example '{\"temperature\": 0}'")
    return extra


def _template(written: str | None) -> str | None:
    """The body itself, or with `@` before it the file that holds it."""
    if written is None or not written.startswith("@"):
        return written
    try:
        return read_bytes(Path(written[1:]), NAMED).decode()
    except FileNotFoundError:
        raise DataError(f"{written[1:]}: no such file for --body") from None
    except UnicodeDecodeError:
        raise DataError(f"{written[1:]}: is no UTF-8 text") from None
