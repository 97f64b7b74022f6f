"""`make bench-dashboard`: CPU time of every page of the dashboard over 100,000 records, beside 1,000.

What matters is the ratio: a page that asks its questions of indexes takes about as long with a hundred times as many.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from history_rows import fill
from starlette.testclient import TestClient

from assay.history import History
from assay.server.app import dashboard

ENTRIES = 50


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    asked = parser.parse_args()
    small, large = _measured(1_000), _measured(asked.records)
    print(f"{'page':28} {'1,000 records':>14} {f'{asked.records:,} records':>16} {'ratio':>7}")
    for page, ms in large.items():
        print(f"{page:28} {small[page]:11.1f} ms {ms:13.1f} ms {ms / small[page]:7.1f}")


def _measured(records: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="assay-bench-dashboard-") as folder:
        with History.beside(Path(folder)) as history:
            fill(history, sessions=records // ENTRIES, entries=ENTRIES, metrics=1)
            newest, earlier, *older = (row.name for row in history.sessions(limit=4))
            [series] = history.series(entry="entry-007", metric="metric_00")
        client = TestClient(dashboard(Path(folder)), base_url="http://localhost")
        pages = {
            "home": "/",
            "sessions": "/sessions",
            "sessions of an entry": "/sessions?entry=entry-007",
            "a session": f"/session?name={newest}",
            "an entry of a session": f"/session/entry?session={newest}&entry=entry-007",
            "entries": "/entries",
            "an entry": "/entry?name=entry-007",
            "a series of 1,000 values": f"/series?id={series.id}",
            "runs": "/runs",
            "runs that failed": "/runs?outcome=failed",
            "four sessions compared": f"/compare?base={older[1]}&with={older[0]}&with={earlier}&with={newest}",
            "two sessions compared": f"/compare?base={earlier}&head={newest}",
        }
        # What a session changed is found once and kept.
        first = {
            "home, looked at first": _ms(client, "/", times=1),
            "a session, looked at first": _ms(client, pages["a session"], times=1),
        }
        kept = {"home, kept": median(_once(client, "/") for _ in range(5))}
        return first | kept | {name: _ms(client, address) for name, address in pages.items()}


def _once(client: TestClient, address: str) -> float:
    begun = time.process_time()
    client.get(address)
    return (time.process_time() - begun) * 1e3


def _ms(client: TestClient, address: str, times: int = 5) -> float:
    """Each time another address of the same page, because one that was made is kept."""
    taken = []
    for number in range(times):
        address += f"{'&' if '?' in address else '?'}again={number}"
        begun = time.process_time()
        answer = client.get(address)
        taken.append((time.process_time() - begun) * 1e3)
        assert answer.status_code == 200, answer.text
    return median(taken)


if __name__ == "__main__":
    main()
