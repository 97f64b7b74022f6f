"""Records in, verdicts out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.analysis.analyzer import BenchmarkAnalyzer, Results
    from assay.analysis.changes.latest_changes import what_changed
    from assay.analysis.changes.series_change import SeriesChange, change_points
    from assay.analysis.comparing.compare_records import compare
    from assay.analysis.comparing.comparison import Comparison, Row
    from assay.analysis.comparing.past import HistoryPast, NoPast, Past
    from assay.analysis.insights import Insight, extract, recommendations
    from assay.analysis.judging.judgement import Judgement, judge
    from assay.analysis.rules import MetricRule, Rules
    from assay.analysis.summary import summary_lines
    from assay.analysis.verdict import Verdict

__all__ = [
    "BenchmarkAnalyzer",
    "Comparison",
    "HistoryPast",
    "Insight",
    "Judgement",
    "MetricRule",
    "NoPast",
    "Past",
    "Results",
    "Row",
    "Rules",
    "SeriesChange",
    "Verdict",
    "change_points",
    "compare",
    "extract",
    "judge",
    "recommendations",
    "summary_lines",
    "what_changed",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "BenchmarkAnalyzer": "analyzer",
        "Comparison": "comparing.comparison",
        "Judgement": "judging.judgement",
        "judge": "judging.judgement",
        "HistoryPast": "comparing.past",
        "Insight": "insights",
        "MetricRule": "rules",
        "NoPast": "comparing.past",
        "Past": "comparing.past",
        "Results": "analyzer",
        "Row": "comparing.comparison",
        "Rules": "rules",
        "SeriesChange": "changes.series_change",
        "Verdict": "verdict",
        "change_points": "changes.series_change",
        "compare": "comparing.compare_records",
        "extract": "insights",
        "recommendations": "insights",
        "summary_lines": "summary",
        "what_changed": "changes.latest_changes",
    },
)
