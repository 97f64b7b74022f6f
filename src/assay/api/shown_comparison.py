from __future__ import annotations

from dataclasses import dataclass, fields

from assay.analysis import Comparison


@dataclass(frozen=True, repr=False)
class ShownComparison(Comparison):
    """A comparison that shows itself: as text where it is printed, as a page in a notebook."""

    @classmethod
    def showing(cls, comparison: Comparison) -> ShownComparison:
        return cls(**{field.name: getattr(comparison, field.name) for field in fields(comparison)})

    def __str__(self) -> str:
        from assay.report.text.comparison_text import comparison_text

        return comparison_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from assay.api.tables.framed import frame
        from assay.report.pages.comparison_page import comparison_page

        return frame(comparison_page(self))
