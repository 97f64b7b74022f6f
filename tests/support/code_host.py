"""GitHub and GitLab on loopback, as far as comments on a pull or merge request need them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

READ_ONLY = "read-only"
WRITING = "may-write"


@dataclass
class CodeHost:
    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    """Of the one pull or merge request there is: number 7."""
    pulls: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    down: bool = False

    def add(self, body: str, by: str) -> int:
        number = 100 + len(self.comments)
        self.comments.append({"id": number, "body": body, "user": {"login": by}, "author": {"username": by}})
        return number

    def answer(self, method: str, address: str, token: str, sent: Any) -> tuple[int, Any]:
        self.requests.append(f"{method} {address}")
        path, query = urlsplit(address).path, parse_qs(urlsplit(address).query)
        gitlab = path.startswith("/projects/") or token.startswith("gl-")
        may_write = token.removeprefix("gl-").removeprefix("Bearer ") == WRITING
        if self.down:
            return 503, {"message": "unavailable"}
        if path == "/user":
            return (200, {"username": "project-bot"}) if gitlab else (403, {"message": "Resource not accessible"})
        if method != "GET" and not may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if path == "/repos/me/bench/pulls":
            [wanted] = query["head"]
            return 200, [pull for pull in self.pulls if pull["head"]["label"] == wanted]
        everything = "/projects/11/merge_requests/7/notes" if gitlab else "/repos/me/bench/issues/7/comments"
        if path == everything and method == "POST":
            return 201, {"id": self.add(sent["body"], "project-bot" if gitlab else "github-actions[bot]")}
        if path == everything:
            page, size = int(query["page"][0]), int(query["per_page"][0])
            return 200, self.comments[(page - 1) * size : page * size]
        below = everything if gitlab else "/repos/me/bench/issues/comments"
        if method == ("PUT" if gitlab else "PATCH") and path.startswith(f"{below}/"):
            [comment] = [each for each in self.comments if str(each["id"]) == path.rpartition("/")[2]]
            comment["body"] = sent["body"]
            return 200, comment
        return 404, {"message": "Not Found"}


@contextmanager
def code_host() -> Iterator[CodeHost]:
    host = CodeHost()

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            private = self.headers.get("PRIVATE-TOKEN")
            token = f"gl-{private}" if private is not None else self.headers.get("Authorization", "")
            status, answer = host.answer(self.command, self.path, token, json.loads(body) if body else None)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = _do

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
