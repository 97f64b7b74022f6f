"""The dashboard, the report, the command line and Python say the same of the same sessions."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from session_factory import START, MadeRun, make_session

import assay
from assay.analysis import BenchmarkAnalyzer, Comparison, what_changed
from assay.analysis.rules import NoiseFloor, save_floors
from assay.cli.main import main
from assay.history import History
from assay.server.compare_page import compare as compared_page
from assay.server.session_pages import session, session_entry
from assay.server.session_store import Store

NIGHTS = 14
BASE, HEAD = f"night-{NIGHTS - 2:02d}", f"night-{NIGHTS - 1:02d}"


@pytest.fixture(params=[1, 8], ids=["one run a night", "eight runs a night"])
def results(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """One series steps, one has a calibrated floor above its step, one moves from night to night."""
    rng = np.random.default_rng(3)
    with History.beside(tmp_path) as history:
        for night in range(NIGHTS):
            last = night == NIGHTS - 1
            level = {
                "steps": 1.3 if last else 1.0,
                "floored": 1.08 if last else 1.0,
                "moves": np.exp(rng.normal(0, 0.05)),
            }
            runs = [
                MadeRun(entry, {"time_s": float(10 * factor * np.exp(rng.normal(0, 0.005)))}, exec_time_s=10.0,
                        repeat=n + 1, repeats=request.param)
                for entry, factor in level.items() for n in range(request.param)
            ]  # fmt: skip
            folder = make_session(tmp_path, runs, name=f"night-{night:02d}", started=START + timedelta(days=night))
            history.add_session(folder)
    key = next(run.fingerprint.key for run in folder.records() if run.name == "floored")
    save_floors(tmp_path, [NoiseFloor("floored", "time_s", key, 0.15, 20, START.isoformat())])
    return tmp_path


def verdicts(rows: Comparison | None) -> dict[tuple[str, str], tuple[str, float | None, float | None]]:
    assert rows is not None
    return {(row.entry, row.metric): (str(row.verdict), row.ratio, row.margin) for row in rows.rows}


def test_two_sessions_compared(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = verdicts(compared_page(Store(results), {"base": BASE, "head": HEAD}).comparison)
    main(["compare", BASE, HEAD, "--results-dir", str(results), "--format", "json"])
    printed = json.loads(capsys.readouterr().out)["rows"]
    assert shown == {(row["entry"], row["metric"]): (row["verdict"], row["ratio"], row["margin"]) for row in printed}
    assert shown == verdicts(assay.compare(BASE, HEAD, results_dir=results))
    assert shown == verdicts(BenchmarkAnalyzer(results).compare(BASE, HEAD))
    reported: list[Comparison] = []
    monkeypatch.setattr(
        "assay.report.html.render_report", lambda folder, comparison, **_: reported.append(comparison) or ""
    )
    assert main(["report", HEAD, "--against", BASE, "--results-dir", str(results), "--output", "-"]) == 0
    assert shown == verdicts(reported[0])


def test_the_last_session(results: Path) -> None:
    store = Store(results)
    with History.beside(results, read_only=True) as history:
        told = what_changed(assay.results(HEAD, results_dir=results), history)
    page = session(store, {"name": HEAD})
    assert verdicts(page.comparison) == verdicts(told)
    for entry in ("steps", "floored", "moves"):
        alone = session_entry(store, {"session": HEAD, "entry": entry}).entry.changes
        assert {row.verdict for row in alone.values()} == {
            row.verdict for row in page.comparison.rows if row.entry == entry
        }  # type: ignore[union-attr]


def test_the_page_follows_what_was_calibrated_since(results: Path) -> None:
    """A page that was kept must not contradict the command line after `assay calibrate` or an import."""
    store = Store(results)
    before = session(store, {"name": HEAD}).comparison
    key = next(run.fingerprint.key for run in assay.results(HEAD, results_dir=results) if run.name == "steps")
    save_floors(results, [NoiseFloor("steps", "time_s", key, 0.9, 20, START.isoformat())])
    with History.beside(results, read_only=True) as history:
        told = what_changed(assay.results(HEAD, results_dir=results), history)
    after = session(store, {"name": HEAD}).comparison
    assert verdicts(after) == verdicts(told)
    assert verdicts(after) != verdicts(before)
