"""Raw requests to a dashboard that serves: malformed, long, cut and pipelined. It answers the next one as ever."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from session_factory import MadeRun, make_session
from workplace import Workplace

from campaign.damage import damaged_bytes, packed, unpacked
from campaign.kind import Case, Trial

PAGES = ("/", "/session?name=", "/session/entry?session=x&entry=", "/entries", "/entry?name=", "/series?id=",
         "/runs?page=",
         "/compare?base=a&head=", "/live?name=", "/static/", "/report?session=", "/%2e%2e/", "//", "*",
         "http://x/")  # fmt: skip
VALUES = ("n" * 100_000, "😀" * 100, "../" * 100, "%00", "%ff%fe", "9" * 4000, "-1", "nan", "1e999", "\x1b[2J",
          "'\"<script>", "[]",
          "\u202e", "a" * 4096)  # fmt: skip


class DashboardRequests:
    name, share, seconds = "requests", 1.0, 60.0

    def draw(self, rng: random.Random) -> Case:
        return {"requests": [packed(_drawn(rng)) for _ in range(40)]}

    def attempt(self, case: Case, folder: Path) -> Trial:
        make_session(folder, [MadeRun("alm", {"x": 1.0})])
        place = Workplace(folder)
        trial = Trial(Counter({"requests": len(case["requests"])}))
        with (folder / "errors").open("wb") as errors:
            serving = subprocess.Popen(
                [sys.executable, "-u", *place.argv("serve", "--port", "0", "--results-dir", str(folder))[1:]],
                stdout=subprocess.PIPE, stderr=errors, text=True, env=place.environment, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        try:
            assert serving.stdout is not None
            line = next(line for line in serving.stdout if "http://" in line)
            port = int(line.partition("http://")[2].split()[0].rstrip("/").rpartition(":")[2])
            threading.Thread(target=serving.stdout.read, daemon=True).start()
            for number, written in enumerate(case["requests"]):
                answer = _asked(port, unpacked(written), stays=number % 2 == 0)
                trial.tried["answered"] += bool(answer)
                if answer.startswith(b"HTTP/1.1 5"):
                    trial.found.append(f"answered {answer[:200]!r}")
            good = _asked(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", stays=True)
            if not good.startswith(b"HTTP/1.1 200"):
                trial.found.append(f"afterwards / is answered with {good[:200]!r}")
        finally:
            serving.kill()
            serving.wait()
        said = (folder / "errors").read_text(errors="replace")
        trial.found += [f"a traceback: {said[-2000:]}"] if "Traceback" in said else []
        return trial


def _asked(port: int, data: bytes, stays: bool) -> bytes:
    """What comes back, at most 4 kB. A client that stays waits for it; one that does not closes its side at once."""
    with socket.create_connection(("127.0.0.1", port), timeout=20 if _is_whole(data) else 1) as connection:
        try:
            connection.sendall(data)
            if not stays:
                connection.shutdown(socket.SHUT_WR)
            return connection.recv(4096)
        except (ConnectionResetError, BrokenPipeError):
            return b""
        except TimeoutError:
            if _is_whole(data):
                raise
            return b""


def _is_whole(data: bytes) -> bool:
    """A server must answer it; one that promises a body and does not send it may wait."""
    head, _, _ = data.partition(b"\r\n\r\n")
    return data.startswith(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection") and head != data


def _drawn(rng: random.Random) -> bytes:
    target = rng.choice(PAGES)
    if "=" in target:
        value = rng.choice(VALUES)
        target += quote(value, safe="%") if rng.random() < 0.8 else value
    method = rng.choice(
        ("GET", "GET", "GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 500, "")
    )
    host = rng.choice(
        ("localhost", "localhost", "localhost", "evil.example", "", "localhost:99999", "[::1]", "a" * 3000)
    )
    more = rng.choice(("", "", "Content-Length: 99999999999\r\n", "Content-Length: -1\r\n",
                       "Transfer-Encoding: chunked\r\n",
                       "Expect: 100-continue\r\n", "Upgrade: websocket\r\nConnection: Upgrade\r\n",
                       f"X: {'y' * 70_000}\r\n",
                       "Range: bytes=5-2\r\n", "If-None-Match: \"\x80\r\n", "Cookie: " + "a=b;" * 2000 + "\r\n",
                       "Accept-Encoding: gzip;q=nan\r\n", "Last-Event-ID: -1\r\n"))  # fmt: skip
    end = rng.choice(("", "", "zz\r\n", "5\r\nhello\r\n0\r\n\r\n"))
    made = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n{end}".encode(
        errors="replace"
    )
    return damaged_bytes(made, rng) if rng.random() < 0.25 else made
