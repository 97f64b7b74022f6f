from __future__ import annotations

from pathlib import Path

from session_factory import START, MadeRun, make_session
from tests.analysis.records import record

from assay.history import History
from assay.record import Record


def test_what_is_exact_comes_back_from_json_and_from_the_history(tmp_path: Path) -> None:
    written = record(metrics={"rows": 7, "ratio": {"value": 2.5, "unit": "x", "exact": True, "margin": 0.001}},
                     metrics_detail={"rows": {"exact": True}})  # fmt: skip
    again = Record.from_json(written.to_json())
    assert again == written
    assert again.script_metrics["rows"] == 7, "a plain number for whoever reads it"
    assert again.metrics["rows"].exact
    assert (again.metrics["ratio"].exact, again.metrics["ratio"].margin) == (True, 0.001)
    folder = make_session(tmp_path, [MadeRun("e", {"ratio": {"value": 2.5, "exact": True}})], started=START)
    with History.beside(tmp_path) as history:
        history.add_session(folder)
        [kept] = history.records(folder.path.name)
    assert kept == next(iter(folder.records()))
    assert kept.metrics["ratio"].exact
