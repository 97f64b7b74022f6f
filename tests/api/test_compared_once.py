from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay
import assay.analysis
from assay.analysis import Comparison, what_changed

SESSION = "entries:\n  - {name: quick, command: 'true', repeat: 2}\n"


def test_a_session_is_compared_once_for_terminal_sinks_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Comparison | None] = []

    def counted(*given: Any, **named: Any) -> Comparison | None:
        found.append(what_changed(*given, **named))
        return found[-1]

    (tmp_path / "session.yaml").write_text(SESSION, encoding="utf-8")
    results = tmp_path / "results"
    assay.run(tmp_path / "session.yaml", results_dir=results, quiet=True)
    monkeypatch.setattr(assay.analysis, "what_changed", counted)
    records = assay.run(tmp_path / "session.yaml", results_dir=results, quiet=True)
    [comparison] = found
    assert comparison is not None
    report = results / records[0].session / "report.html"
    assert comparison.base in report.read_text(encoding="utf-8")
