"""A server on loopback that answers as it is told to, or not at all."""

from __future__ import annotations

import http.client
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    """Path with its query."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def route(self) -> str:
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Answer]


def forward_to(port: int) -> Handler:
    def forward(request: Request) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            skipped = ("host", "connection", "transfer-encoding", "content-length")
            headers = {name: value for name, value in request.headers.items() if name not in skipped}
            connection.request(request.method, request.path, body=request.body, headers=headers)
            response = connection.getresponse()
            body = response.read()
            kept = {k: v for k, v in response.getheaders() if k.lower() not in ("connection", "transfer-encoding")}
            return Answer(response.status, body, kept)
        finally:
            connection.close()

    return forward


class MoodyServer:
    """Wraps a service, ours or a real one behind a port."""

    def __init__(self, handle: Handler) -> None:
        self.handle = handle
        self.seen: list[Request] = []
        self.matching: Callable[[Request], bool] = lambda request: True
        self._fail_next: list[Answer] = []
        self._slow: list[float] = []
        self._swallow = False
        self._half = False
        self.swallowed = threading.Event()
        self._free = threading.Event()
        self._lock = threading.Lock()
        self.port = 0
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        if self._server is None:
            self._free.clear()
            self._server = _Server(("127.0.0.1", self.port), self._handler_class())
            self.port = self._server.server_address[1]
            threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Connections are refused from here on, and those that are open are cut."""
        self._free.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.cut()  # type: ignore[attr-defined]
            self._server = None

    def fail_next(self, *answers: Answer) -> None:
        self._fail_next = list(answers)

    def be_slow(self, *seconds: float) -> None:
        self._slow = list(seconds)

    def swallow_next(self) -> None:
        """The next request that matches is carried out, and never answered."""
        self.swallowed.clear()
        self._swallow = True

    def half_close_next(self) -> None:
        """The next request that matches is carried out, and half of its answer is sent."""
        self._half = True

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handle(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def answer(self) -> None:
                request = Request(
                    self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, self._read()
                )
                with outer._lock:
                    outer.seen.append(request)
                    matches = outer.matching(request)
                    fail = outer._fail_next.pop(0) if outer._fail_next and matches else None
                    slow = outer._slow.pop(0) if outer._slow and matches else 0.0
                    swallow, outer._swallow = (True, False) if outer._swallow and matches else (False, outer._swallow)
                    half, outer._half = (True, False) if outer._half and matches else (False, outer._half)
                if slow:
                    outer._free.wait(slow)
                try:
                    answer = fail or outer.handle(request)
                except Exception as error:
                    # What a service of ours asserts of a request must show in the test that sent it.
                    traceback.print_exc()
                    answer = Answer(400, f"{type(error).__name__}: {error}".encode())
                if swallow:
                    outer.swallowed.set()
                    outer._free.wait(60)
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in ("content-length", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body[: len(answer.body) // 2] if half else answer.body)
                if half:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer

            def _read(self) -> bytes:
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    body = b""
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                    return body
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))

            def log_message(self, *args: object) -> None:
                pass

        return Handle


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *args: object) -> None:
        self._open: list[object] = []
        super().__init__(*args)  # type: ignore[arg-type]

    def get_request(self):  # type: ignore[no-untyped-def]
        accepted = super().get_request()
        self._open.append(accepted[0])
        return accepted

    def cut(self) -> None:
        import socket

        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]
            except OSError:
                continue

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is what these tests are about."""


def until_it_answers(url: str, seconds: float = 90.0) -> None:
    import urllib.request

    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
