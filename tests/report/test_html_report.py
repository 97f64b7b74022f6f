from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nightly import HOSTILE, nightly_runs, rich_runs
from session_factory import START, MadeRun, make_session

from assay.analysis import Row, Verdict
from assay.history import History
from assay.record import SessionFolder
from assay.report.html import write_report


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_names_values_and_logs_are_text(tmp_path: Path) -> None:
    folder = make_session(tmp_path, nightly_runs())
    page = Page(write_report(folder).read_text())
    assert HOSTILE in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "</pre><script>alert('log')</script>" in page.text
    assert "img" not in {tag for tag, _ in page.tags}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]


def test_nothing_is_asked_of_any_other_host(tmp_path: Path) -> None:
    page = Page(write_report(make_session(tmp_path, nightly_runs())).read_text())
    addresses = [
        value for _, attrs in page.tags for name, value in attrs.items() if name in ("src", "href", "action") and value
    ]
    assert all(address.startswith(("#", "data:")) for address in addresses), addresses


@pytest.mark.slow
def test_fifty_rich_entries_stay_within_500_kb(tmp_path: Path) -> None:
    """Each with five runs, 120 metrics, 4,000 latencies, a sweep, stages, a long log and its resource series."""
    rich, alm = rich_runs()[0], next(run for run in nightly_runs() if run.entry == "alm")
    wide = {f"stage_{i:03d}_process_time_p95": {"value": i * 1.1, "unit": "s", "better": "lower"} for i in range(120)}
    runs = [
        replace(
            rich,
            entry=f"entry-{n:02d}",
            metrics={**rich.metrics, **wide},
            tasks=alm.tasks,
            log="a line of output\n" * 5000,
        )
        for n in range(50)
    ]
    path = write_report(make_session(tmp_path, runs))
    assert path.stat().st_size <= 500_000
    text = path.read_text()
    assert text.count('<details class="entry') == 50
    assert "shortened to keep the file small" in text


def test_no_other_script_may_run(tmp_path: Path) -> None:
    """The page's policy names its own scripts by digest."""
    text = write_report(make_session(tmp_path, nightly_runs())).read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = {b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts}
    assert set(re.findall(r"sha256-([^&']+)", policy[1])) == digests
    assert "script-src 'unsafe-inline'" not in html.unescape(policy[1])


def test_what_regressed_is_told(tmp_path: Path) -> None:
    before = make_session(tmp_path, nightly_runs(1.0, 3), name="before", started=START - timedelta(days=1))
    folder = make_session(tmp_path, nightly_runs(1.12))
    with History.beside(tmp_path) as history:
        history.add_session(before)
        page = Page(write_report(folder, history=history).read_text())
    assert "Against before: 3 regressed" in " ".join(page.text.split())
    assert "Nothing regressed" not in page.text


def test_a_session_that_was_moved_keeps_its_logs(tmp_path: Path) -> None:
    folder = make_session(tmp_path / "here", [MadeRun("a", log="found me\n")])
    (tmp_path / "there").mkdir()
    moved = folder.path.rename(tmp_path / "there" / "renamed")
    assert "found me" in write_report(SessionFolder(moved)).read_text()


def test_a_record_cannot_make_the_report_read_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "stdouterr.log"
    secret.parent.mkdir()
    secret.write_text("hush\n")
    folder = make_session(tmp_path / "results", [MadeRun("a", folder="../../secret/x", usage_series=False)])
    assert "hush" not in write_report(folder).read_text()


def test_every_chart_is_drawn_in_the_file_itself(tmp_path: Path) -> None:
    text = write_report(make_session(tmp_path, nightly_runs())).read_text()
    charts = re.findall(r'<figure class="plot".*?</figure>', text, re.DOTALL)
    assert len(charts) >= 10
    assert all(re.search(r'<g><path d="M[^"]{3,}"/>', chart) for chart in charts)
    assert "canvas" not in text


def test_before_is_what_the_change_is_relative_to() -> None:
    row = Row("alm", "time_s", Verdict.REGRESSED, "", base=13.96, head=13.91, ratio=1.118, design="history")
    assert row.before == pytest.approx(12.44, abs=0.01)
    assert replace(row, ratio=None).before == 13.96
