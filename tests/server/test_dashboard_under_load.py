"""The dashboard over 100,000 records, asked by sixteen clients at once, some of them malformed, while
sessions are added: it answers them all.

`make torture-dashboard` does so for a minute and prints the figures; a short one over fewer records is a test.
"""

from __future__ import annotations

import http.client
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest
from history_rows import fill
from workplace import Workplace

from assay.history import History
from assay.server import cache
from assay.server.cache import KeptComparisons

ENTRIES, CLIENTS = 50, 16
HOSTILE = ("/session?name=" + "n" * 60_000, "/entry?name=" + quote("\0\x1b[2J"), "/runs?page=" + "9" * 400,
           "/series?id=-1",
           "/compare?base=" + quote("../" * 500), "/live?name=%ff", "/%00", "/nothing",
           "/series?id=1&last=1e999")  # fmt: skip


@dataclass
class Asked:
    """What sixteen clients saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    home_s: list[float] = field(default_factory=list)
    """Seconds of every answer of the first page."""
    first_s: float = 0.0
    """Seconds of the very first answer, asked for as soon as the server listened."""
    written: list[int] = field(default_factory=list)
    """Sessions that were added meanwhile."""
    failures: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    """Memory of the server: after warming up, and after each round."""

    def home_ms(self, share: float) -> float:
        return sorted(self.home_s)[int(share * (len(self.home_s) - 1))] * 1e3


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, int]]:
    """Process and port of `assay serve`."""
    place = Workplace(folder)
    with (folder / "errors").open("wb") as errors:
        server = subprocess.Popen(
            [sys.executable, "-u", *place.argv("serve", "--port", "0", "--results-dir", str(folder))[1:]],
            stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True, env=place.environment,
        )  # fmt: skip
    try:
        assert server.stdout is not None
        yield server.pid, int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        assert server.poll() is None
    finally:
        server.kill()
        server.communicate()


@contextmanager
def writing(folder: Path, first: int, every_s: float) -> Iterator[list[int]]:
    """Adds a session of all entries every so many seconds, and says which."""
    over, written = threading.Event(), list[int]()

    def write() -> None:
        while not over.wait(every_s):
            with History.beside(folder) as history:
                number = first + len(written)
                fill(history, sessions=1, entries=ENTRIES, metrics=1, seed=number, first=number)
            written.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield written
    finally:
        over.set()
        writer.join()


def ask(folder: Path, records: int, seconds: float, rounds: int = 3, every_s: float = 1.0) -> Asked:
    """While a session is added every `every_s` seconds."""
    with History.beside(folder) as history:
        fill(history, sessions=records // ENTRIES, entries=ENTRIES, metrics=1)
        newest, earlier = (row.name for row in history.sessions(limit=2))
    pages = ["/", "/", f"/session?name={newest}", "/entries", "/entry?name=entry-007", "/runs",
    "/runs?outcome=failed",
             f"/compare?base={earlier}&head={newest}", *HOSTILE]  # fmt: skip
    asked = Asked()
    with serving(folder) as (pid, port), writing(folder, records // ENTRIES, every_s) as asked.written:
        for page in pages:
            _client(port, [page], time.monotonic(), asked, random.Random(0))
        asked.first_s = asked.home_s[0]
        asked.home_s.clear()
        asked.memory_mb.append(_memory_mb(pid))
        for turn in range(rounds):
            until = time.monotonic() + seconds / rounds
            clients = [
                threading.Thread(target=_client, args=(port, pages, until, asked, random.Random(f"{turn} {number}")))
                for number in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            for client in clients:
                client.join(seconds + 120)
                if client.is_alive():
                    asked.failures.append("a client was never answered")
            asked.memory_mb.append(_memory_mb(pid))
    said = (folder / "errors").read_text(errors="replace")
    if "Traceback" in said:
        asked.failures.append(said[-2000:])
    return asked


def _client(port: int, pages: list[str], until: float, asked: Asked, rng: random.Random) -> None:
    """A closed loop: the next question follows the answer. At least one."""
    while True:
        page = rng.choice(pages)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        begun = time.monotonic()
        try:
            connection.request("GET", page)
            answer = connection.getresponse()
            answer.read()
            asked.statuses[answer.status] += 1
            if page == "/":
                asked.home_s.append(time.monotonic() - begun)
        except (OSError, http.client.HTTPException) as error:
            asked.failures.append(f"{page[:60]}: {error!r}")
        finally:
            connection.close()
        if time.monotonic() >= until:
            return


def _memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def test_a_comparison_is_made_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """And while others are forgotten: an answer is never one that another client has just thrown away."""
    monkeypatch.setattr(cache, "_MOST", 1)
    kept, made = KeptComparisons(), Counter[int]()

    def ask_for(number: int) -> None:
        def make() -> None:
            made[number] += 1
            time.sleep(0.001)

        kept.get(number % 2, make)

    with ThreadPoolExecutor(16) as clients:
        list(clients.map(ask_for, range(200)))
    same = KeptComparisons()
    with ThreadPoolExecutor(16) as clients:
        list(clients.map(lambda _: same.get("one", lambda: made.update({-1: 1})), range(100)))
    assert made[-1] == 1


@pytest.mark.slow
def test_sixteen_clients_are_answered(tmp_path: Path) -> None:
    """Over few enough records that they are there in seconds."""
    asked = ask(tmp_path, records=500, seconds=3)
    assert asked.failures == []
    assert {status for status in asked.statuses if status >= 500} == set()
    assert asked.statuses[200] >= CLIENTS
    assert asked.written
    # Caches fill in the first round; what grows with every question goes on growing.
    assert asked.memory_mb[-1] < 1.3 * asked.memory_mb[1] + 20


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        told = ask(Path(made), records=100_000, seconds=60, rounds=4)
    print(f"answers {dict(told.statuses)}, failures {told.failures[:5]}")
    print(f"{len(told.written)} sessions added meanwhile; very first page after {told.first_s * 1e3:.0f} ms")
    print(f"first page: median {told.home_ms(0.5):.0f} ms, p99 {told.home_ms(0.99):.0f} ms of {len(told.home_s)}")
    print(f"memory of the server: {', '.join(f'{mb:.0f}' for mb in told.memory_mb)} MB")
