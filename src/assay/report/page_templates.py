"""The style sheets of pages, and of a chart that stands outside of one."""

from __future__ import annotations

import hashlib
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.comparison import GRAVEST_FIRST
from assay.analysis.conditions import also_different
from assay.analysis.sentences.conclusion_sentences import count_verdicts, verdict_word
from assay.report.insight_groups import insight_groups
from assay.report.quantity import duration, number, percent, printable, quantity, round_quantity
from assay.report.run_folder import MOST_INSIGHTS
from assay.report.svg.lines import line_chart
from assay.report.text.series import change_commits, change_size

if TYPE_CHECKING:
    from jinja2 import Environment

    from assay.record import Record
    from assay.report.session_view import EntryView


TEMPLATES = Path(__file__).parent / "templates"
SHEETS = ("colours.css", "style.css", "chart.css", "colocation.css", "serving.css", "weights.css", "print.css")
"""What is printed comes last: it overrides the others."""


@lru_cache(maxsize=1)
def page_style() -> str:
    """Without what only its authors read: every page carries it."""
    return re.sub(r"/\*.*?\*/|\n\s*", "", "".join(_read(name) for name in SHEETS), flags=re.DOTALL)


def chart_style(root: str) -> str:
    """Colours and charts alone, with colours for what is inside `root` only."""
    return _read("colours.css").replace(":root", root) + _read("chart.css")


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


SCRIPTS = ("chart.js", "page.js")


@dataclass(frozen=True)
class Scripts:
    """What a page carries with it. The policy names each script by its digest, so that no other can run."""

    style: str
    texts: tuple[str, ...]

    @property
    def sources(self) -> str:
        digests = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in self.texts]
        return " ".join(f"'sha256-{digest}'" for digest in digests)


@lru_cache(maxsize=1)
def page_scripts() -> Scripts:
    return Scripts(page_style(), tuple((TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS))


@lru_cache(maxsize=1)
def templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    made.filters.update(
        quantity=_short, number=number, duration=duration, percent=percent, verdict_counts=verdict_counts,
        whisker=_whisker, reach=_reach, peak_memory=_peak_memory, pressure=_pressure,
        shown=_safe, rounded=round_quantity, line_chart=line_chart, also_different=also_different,
        verdict_word=verdict_word, counted=count_verdicts, named=_strip_label,
        change_size=change_size, change_commits=change_commits, insight_groups=insight_groups,
    )  # fmt: skip
    made.globals.update(Verdict=Verdict, MOST_INSIGHTS=MOST_INSIGHTS, style=page_style)
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return made


def _safe(value: Any) -> Any:
    """Everything a page shows passes here before it is escaped: marks that reverse or hide text become visible."""
    return printable(value, keep_lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def _strip_label(side: str, label: str) -> str:
    """Sides of `ab` have their label in their name already."""
    return side.removeprefix(f"{label}: ")


def _pressure(run: Record) -> str:
    """Shares of the run in which something on the machine waited, as far as its kernel counts them."""
    usage, wall = run.usage, run.usage.wall_s or run.exec_time_s
    known = {"cpu": usage.pressure_cpu_s, "io": usage.pressure_io_s, "memory": usage.pressure_memory_s}
    words = [
        f"{what} {min(seconds / wall, 1.0):.0%}" for what, seconds in known.items() if seconds is not None and wall
    ]
    return ", ".join(words) or "–"


def _short(value: Any, unit: str | None = None) -> str:
    text = quantity(value, unit)
    return text if len(text) <= 200 else text[:199] + "…"


def verdict_counts(comparison: Comparison) -> str:
    return count_verdicts({str(verdict): comparison.counts[verdict] for verdict in GRAVEST_FIRST}, "nothing in common")


def _reach(rows: Sequence[Row]) -> float:
    """The end of the scale that intervals of one table share, as a logarithm: at least 5%, at most a factor of 4."""
    ends = [abs(math.log(end)) for row in rows for end in (row.low, row.high) if end and end > 0]
    return min(max([0.05, *ends]), math.log(4))


def _whisker(row: Row, reach: float) -> dict[str, float]:
    """Places on a drawing 144 wide, no change in the middle."""

    def at(ratio: float | None) -> float:
        share = math.log(ratio) / reach if ratio and ratio > 0 else 0.0
        return round(72 + max(-1.0, min(1.0, share)) * 66, 1)

    return {"low": at(row.low), "high": at(row.high), "at": at(row.ratio)}


def _peak_memory(entry: EntryView) -> str:
    return quantity(float(round(entry.peak_rss_mb)), "MB") if entry.peak_rss_mb else "–"
