"""Records in, verdicts out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.analysis.analyzer import BenchmarkAnalyzer, Results
    from assay.analysis.compare_records import compare
    from assay.analysis.comparison import Comparison, Row
    from assay.analysis.insights import Insight, extract, recommendations
    from assay.analysis.judgement import Judgement, judge
    from assay.analysis.latest_changes import what_changed
    from assay.analysis.past import HistoryPast, NoPast, Past
    from assay.analysis.rules import MetricRule, Rules
    from assay.analysis.series_change import SeriesChange, change_points
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
        "Comparison": "comparison",
        "Judgement": "judgement",
        "judge": "judgement",
        "HistoryPast": "past",
        "Insight": "insights",
        "MetricRule": "rules",
        "NoPast": "past",
        "Past": "past",
        "Results": "analyzer",
        "Row": "comparison",
        "Rules": "rules",
        "SeriesChange": "series_change",
        "Verdict": "verdict",
        "change_points": "series_change",
        "compare": "compare_records",
        "extract": "insights",
        "recommendations": "insights",
        "summary_lines": "summary",
        "what_changed": "latest_changes",
    },
)
