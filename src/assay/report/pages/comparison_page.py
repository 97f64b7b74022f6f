from __future__ import annotations

from assay.analysis import Comparison
from assay.report.page_templates import templates
from assay.report.text.comparison_order import order_rows
from assay.report.text.comparison_text import change, counts_line, interval


def comparison_page(comparison: Comparison) -> str:
    """One file that needs nothing else, like the session's report."""
    page = templates().get_template("comparison.html")
    return page.render(
        comparison=comparison,
        rows=order_rows(comparison),
        counts=counts_line(comparison),
        change=change,
        interval=interval,
    )
