from __future__ import annotations

from collections.abc import Iterator

from assay.report.exhibits.colocation.colocation_exhibit import ColocationExhibit
from assay.report.exhibits.colocation.heat_map import HeatCell, HeatMap
from assay.report.exhibits.colocation.stage_bars import Company
from assay.report.markdown_text.markdown_table import escape, table
from assay.report.quantity import round_quantity


def colocation_markdown(shown: ColocationExhibit) -> Iterator[str]:
    """What the page says of pipelines beside each other, without its drawings."""
    told = [f"{one.says} ({one.evidence})" if one.evidence else one.says for one in shown.findings]
    if lines := [*told, *shown.warnings]:
        yield "\n".join(f"- {escape(line)}" for line in lines)
    for one in shown.maps:
        yield f"{one.title}:\n\n{_map(one)}"
    rows = [(escape(bars.pipeline), *_company(one)) for bars in shown.bars for one in bars.companies]
    if rows:
        columns = ("stage time of a query", "", "alone", "together", "of alone", "over")
        yield table(columns, rows, right=(2, 3, 4))
    if shown.rates is not None and shown.rates.says:
        yield f"{escape(shown.rates.pipeline)}: {escape(shown.rates.says)}"


def _map(one: HeatMap) -> str:
    rows = [(escape(who), *(_cell(cell) for cell in cells)) for who, cells in one.rows]
    return table(("suffers ↓ beside →", *map(escape, one.columns)), rows)


def _cell(cell: HeatCell) -> str:
    text = f"{cell.text} ({cell.interval})" if cell.interval else cell.text
    return {"unsure": f"{text}, inconclusive", "slower": f"**{text}**"}.get(cell.tone, text)


def _company(one: Company) -> tuple[str, ...]:
    alone, together = one.bars if len(one.bars) == 2 else (None, one.bars[0])
    relative = "–" if one.relative is None else f"{one.relative * 100:.0f}%"
    known = round_quantity(alone.seconds, "s") if alone else "–"
    return escape(one.label), known, round_quantity(together.seconds, "s"), relative, escape(together.basis)
