"""Records in, verdicts out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.analysis.analyzer import BenchmarkAnalyzer, Results, summary_lines
    from assay.analysis.compare_records import compare
    from assay.analysis.comparison import Comparison, Row, Verdict
    from assay.analysis.evidence import HistoryPast, NoPast, Past
    from assay.analysis.insights import Insight, extract, recommendations
    from assay.analysis.judgement import Judgement, judge
    from assay.analysis.rules import MetricRule, Rules
    from assay.analysis.series_changes import SeriesChange, change_points, what_changed

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
        "HistoryPast": "evidence",
        "Insight": "insights",
        "MetricRule": "rules",
        "NoPast": "evidence",
        "Past": "evidence",
        "Results": "analyzer",
        "Row": "comparison",
        "Rules": "rules",
        "SeriesChange": "series_changes",
        "Verdict": "comparison",
        "change_points": "series_changes",
        "compare": "compare_records",
        "extract": "insights",
        "recommendations": "insights",
        "summary_lines": "analyzer",
        "what_changed": "series_changes",
    },
)
