from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, make_session
from tests.analysis.records import noisy

from assay.analysis import BenchmarkAnalyzer
from assay.errors import DataError, UsageError


def _suite(folder: Path, factor: float, n: int = 8, **params: object) -> str:
    """What a weight suite leaves in its `--output` folder."""
    folder.mkdir()
    samples = [float(value) for value in noisy(2.0 * factor, 0.01, n, seed=int(factor * 10))]
    metrics = {
        "is_success": True,
        "commit_s": {"value": 2.0 * factor, "unit": "s", "samples": samples},
        "compression_ratio": {"value": 3.0 / factor, "unit": "x", "better": "higher", "exact": True},
    }
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "params.json").write_text(json.dumps({"profile": "quick", "output": str(folder / "x"), **params}))
    return str(folder)


def test_regression_between_two_output_folders(tmp_path: Path) -> None:
    """The example of the weight suites: of one run each, what is exact is judged; its time is not, however many samples
    it took within that run."""
    analyzer = BenchmarkAnalyzer(tmp_path)
    base, slow, same = (_suite(tmp_path / name, f) for name, f in (("baseline", 1.0), ("feature", 1.5), ("again", 1.0)))
    worse = analyzer.compare_results(base, slow)
    assert worse["regression_detected"] is True
    assert [row["metric"] for row in worse["rows"] if row["verdict"] == "regressed"] == ["compression_ratio"]
    unchanged = {row["metric"]: row for row in analyzer.compare_results(base, same)["rows"]}
    assert unchanged["compression_ratio"]["verdict"] == "equivalent"
    assert unchanged["commit_s"]["verdict"] == "inconclusive"
    assert unchanged["commit_s"]["reason"].startswith(
        "can't tell from one run on each side; needs 3 more on each: 16 samples within them"
    )


def test_unknown_says_why(tmp_path: Path) -> None:
    analyzer = BenchmarkAnalyzer(tmp_path)
    few = analyzer.compare_results(_suite(tmp_path / "a", 1.0, n=3), _suite(tmp_path / "b", 1.0, n=3))
    assert few["regression_detected"] is None
    assert "one run on each side; needs 3 more on each: 6 samples within them" in few["reason"]
    other = analyzer.compare_results(str(tmp_path / "a"), _suite(tmp_path / "c", 1.0, profile="full"))
    assert other["regression_detected"] is None
    assert "profile quick → full" in other["reason"]


def test_sessions_by_name_and_their_insights(tmp_path: Path) -> None:
    for day, name in enumerate(("baseline", "feature")):
        runs = [
            MadeRun("e", {"time_taken_s": float(v), "slowdown.a.beside.b.p99": 3.0, "slowdown.a.beside.b.p99.low": 2.0},
                    repeat=i + 1, repeats=8)
            for i, v in enumerate(noisy(4 + 2 * day, 0.01, 8, seed=day))
        ]  # fmt: skip
        make_session(tmp_path, runs, name=name, started=START + timedelta(days=day))
    analyzer = BenchmarkAnalyzer(tmp_path)
    results = analyzer.load_results("feature")
    assert len(results.records) == 8
    assert 5.8 < results.metrics("e")["time_taken_s"] < 6.2
    assert analyzer.compare_results("baseline", "feature")["regression_detected"] is True
    assert analyzer.compare("feature", "baseline").regression_detected is not True
    insights = analyzer.extract_insights(results)
    assert "interference" in {insight.kind for insight in insights}
    assert any("own processors" in line for line in analyzer.generate_recommendations(results))
    assert analyzer.generate_recommendations("feature") == analyzer.generate_recommendations(results)


def test_what_cannot_be_loaded_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no session 'nowhere'"):
        BenchmarkAnalyzer(tmp_path).load_results("nowhere")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "metrics.json").write_text("{")
    with pytest.raises(DataError, match=r"metrics\.json: is not valid JSON"):
        BenchmarkAnalyzer(tmp_path).load_results(broken)
