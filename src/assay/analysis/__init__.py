"""Records in, verdicts out."""

from assay.analysis.analyzer import BenchmarkAnalyzer, Results
from assay.analysis.compare_records import compare
from assay.analysis.comparison import Comparison, Row
from assay.analysis.insights import Insight, extract, recommendations
from assay.analysis.past import HistoryPast, NoPast, Past
from assay.analysis.rules import MetricRule, Rules
from assay.analysis.summary import summary_lines
from assay.analysis.verdict import Verdict
from assay.analysis.latest_changes import what_changed

__all__ = [
    "BenchmarkAnalyzer",
    "Comparison",
    "HistoryPast",
    "Insight",
    "MetricRule",
    "NoPast",
    "Past",
    "Results",
    "Row",
    "Rules",
    "Verdict",
    "compare",
    "extract",
    "recommendations",
    "summary_lines",
    "what_changed",
]
