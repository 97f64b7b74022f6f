"""What stands out in results, by rules; each says the numbers it rests on and what to do."""

from assay.analysis.insights.extract import extract, recommendations
from assay.analysis.insights.insight import Insight, Kind

__all__ = ["Insight", "Kind", "extract", "recommendations"]
