"""A small object store over HTTP: what is put appears as a whole, `If-None-Match: *` creates only what is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import unquote


class BucketHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BucketServer

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            if self.headers.get("If-None-Match") == "*" and self._key in self.server.objects:
                self._answer(412)
                return
            self.server.objects[self._key] = data
        self._answer(200)

    def do_GET(self) -> None:
        if self._key.endswith("/"):
            with self.server.lock:
                found = {key: len(value) for key, value in self.server.objects.items() if key.startswith(self._key)}
            self._answer(200, json.dumps(found).encode())
            return
        data = self.server.objects.get(self._key)
        self._answer(404 if data is None else 200, data or b"")

    def do_DELETE(self) -> None:
        with self.server.lock:
            self._answer(404 if self.server.objects.pop(self._key, None) is None else 200)

    @property
    def _key(self) -> str:
        return unquote(self.path).lstrip("/")

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class BucketServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BucketHandler)
        self.objects: dict[str, bytes] = {}
        self.lock = Lock()


@contextmanager
def bucket_server() -> Iterator[BucketServer]:
    server = BucketServer()
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
