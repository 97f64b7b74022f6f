"""Every command that reads a results folder, run in this process, because thousands of damaged ones are tried.

A reading is fine if it answers (whatever it says of the damage) or refuses with one message. It is a finding if an
exception reaches the top, if the dashboard answers with an error of its own (500 and above), or if a control character
reaches the terminal.
"""

from __future__ import annotations

import io
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from assay.cli.main import main
from assay.server.app import dashboard

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_FILES_ONLY = ("json", "export", "html")
"""Readings whose output is a file for programs, in which control characters are escaped by its format."""


@dataclass(frozen=True)
class Finding:
    """What a reading did that none may do."""

    reading: str
    why: str

    def __str__(self) -> str:
        return f"{self.reading}: {self.why}"


@dataclass(frozen=True)
class Answered:
    code: int
    out: str
    err: str


def assay(*words: str) -> Answered:
    """The command in this process; what it raises is raised here."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as asked:
            code = asked.code if isinstance(asked.code, int) else 2
    return Answered(code, out.getvalue(), err.getvalue())


def session_readings(results: Path, name: str, other: str, entry: str) -> dict[str, Callable[[], Answered]]:
    """`name` is the damaged session, `other` a whole one beside it; the history is made anew and shown as well."""
    there = ("--results-dir", str(results))
    words: Mapping[str, tuple[str, ...]] = {
        "show": ("show", name, *there),
        "show entry": ("show", name, "--entry", entry, *there),
        "show json": ("show", name, "--json", *there),
        "show latest": ("show", "latest", *there),
        "show commit": ("show", "a" * 40, *there),
        "logs": ("logs", entry, "--session", name, *there),
        "compare": ("compare", other, name, "--all", *there),
        "compare back": ("compare", name, other, "--format", "markdown", *there),
        "compare json": ("compare", other, name, "--format", "json", "--anyway", *there),
        "compare html": ("compare", other, name, "--format", "html", *there),
        "history import": ("history", *there, "import", "--rebuild"),
        "history": ("history", *there),
        "history show": ("history", *there, "show", entry),
        "history export": ("history", *there, "export", "-"),
        "report html": ("report", name, "--output", "-", *there),
        "report markdown": ("report", name, "--format", "markdown", "--output", "-", *there),
        "report against": ("report", name, "--against", other, "--output", "-", *there),
        "sinks status": ("sinks", "status", name, *there),
        "prune": ("prune", "--keep", "1", "--older-than", "1d", "--max-size", "1KB", "--dry-run", *there),
    }
    return {reading: partial(assay, *given) for reading, given in words.items()}


def dashboard_pages(name: str, other: str, entry: str) -> dict[str, str]:
    at, beside, of = quote(name), quote(other), quote(entry)
    return {
        "/": "/",
        "/sessions": f"/sessions?text={at}",
        "/session": f"/session?name={at}",
        "/session/entry": f"/session/entry?session={at}&entry={of}",
        "/entries": "/entries",
        "/entry": f"/entry?name={of}",
        "/series": "/series?id=1",
        "/runs": "/runs",
        "/compare": f"/compare?base={beside}&head={at}",
        "/compare runs": f"/compare?base={quote(f'{other}/{entry}/run-01')}&head={quote(f'{name}/{entry}/run-01')}",
        "/compare three": f"/compare?base={beside}&with={at}&with={quote(f'{name}/{entry}/run-01')}",
        "/live": f"/live?name={at}",
    }


def findings(results: Path, name: str, other: str, entry: str) -> Iterator[Finding]:
    """What every reading of one damaged session folder finds."""
    for reading, read in session_readings(results, name, other, entry).items():
        if found := tried(reading, read):
            yield found
    client = TestClient(dashboard(results), base_url="http://localhost", raise_server_exceptions=True)
    for page, address in dashboard_pages(name, other, entry).items():
        if found := asked(client, page, address):
            yield found


def tried(reading: str, read: Callable[[], Answered], interrupted: bool = False) -> Finding | None:
    """`interrupted`: the command may also say that a session is still not whole (exit code 130)."""
    try:
        answer = read()
    except Exception:
        return Finding(reading, _last_call())
    if "Traceback (most recent call last)" in answer.err:
        return Finding(reading, "a traceback on standard error")
    if answer.code not in (0, 1, 2, 3, 4) and not (interrupted and answer.code == 130):
        return Finding(reading, f"exit code {answer.code}")
    if answer.code == 2 and not answer.err.startswith(("assay: ", "usage: ")):
        return Finding(reading, f"refused without a message: {answer.err[:200]!r}")
    shown = "" if reading.endswith(_FILES_ONLY) else answer.out
    raw = _CONTROL.search(shown)
    return Finding(reading, f"control character {raw[0]!r} is shown") if raw and reading != "logs" else None


def asked(client: TestClient, page: str, address: str, **given: Any) -> Finding | None:
    try:
        answer = client.get(address, **given)
    except Exception:
        return Finding(page, _last_call())
    return Finding(page, f"status {answer.status_code}") if answer.status_code >= 500 else None


def _last_call() -> str:
    """The exception and where in Assay it was raised: what two findings of one cause have in common."""
    lines = traceback.format_exc().strip().splitlines()
    ours = [line.strip() for line in lines if "/assay/" in line and line.strip().startswith("File")]
    return f"{lines[-1][:200]} at {ours[-1].rpartition('/assay/')[2] if ours else '?'}"
