from __future__ import annotations

from collections.abc import Sequence
from html import escape

from assay.benchmarks.weights.chart import Chart
from assay.benchmarks.weights.table import Table

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: .5rem 0; } th, td { padding: .2rem .8rem; border: 1px solid #ccc; }
th { text-align: left; background: #f4f4f4; } svg { width: 100%; font-size: 11px; }
@media (prefers-color-scheme: dark) { body, th { background: #1b1b1b; color: #ddd; } svg text { fill: #ddd; } }
"""


def chart_page(title: str, sections: Sequence[tuple[str, Sequence[Table], Sequence[Chart]]]) -> str:
    """One file that asks nothing of any other: tables and charts of every suite."""
    body = [f"<h1>{escape(title)}</h1>"]
    for name, tables, charts in sections:
        body.append(f"<h2>{escape(name)}</h2>")
        body += [_table(table) for table in tables]
        body += [f"<h3>{escape(chart.title)}</h3>{chart.svg()}" for chart in charts]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style>{''.join(body)}</html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    notes = "".join(f"<li>{escape(line)}</li>" for line in (*table.interpretation, *table.notes))
    return f"<h3>{escape(table.title)}</h3><table><tr>{head}</tr>{rows}</table><ul>{notes}</ul>"
