from __future__ import annotations

from markupsafe import Markup, escape

from assay.report.exhibits.plot import Plot
from assay.report.printable import printable
from assay.report.style import chart_style
from assay.report.svg.line_chart import line_chart


def standalone(plot: Plot) -> Markup:
    """A chart that may stand anywhere, as in a notebook: with its own colours, light and dark, and nothing that would
    change what is around it."""
    unit = f" ({plot.unit})" if plot.unit else ""
    caption = f"{escape(printable(plot.title + unit))} <span>{escape(printable(plot.says))}</span>"
    return Markup(
        f'<figure class="line-chart-alone"><style>{chart_style(".line-chart-alone")}</style>'
        f"<figcaption>{caption}</figcaption>{line_chart(plot)}</figure>"
    )
