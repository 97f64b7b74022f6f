"""A comparison as a table for the terminal, or as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.environment_difference import also_different
from assay.report.printable import printable
from assay.report.quantity import percent, quantity
from assay.report.text_table import text_table

ORDER = (
    Verdict.REGRESSED,
    Verdict.IMPROVED,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_COMPARABLE,
    Verdict.EQUIVALENT,
)
_COLOURS = {Verdict.REGRESSED: "31", Verdict.IMPROVED: "32"}
_MARKUP = str.maketrans({char: f"&#{ord(char)};" for char in "\\`*[]<>|#@~&"})
_HEAD = ("entry", "metric", "base", "head", "change", "interval", "runs", "verdict")


def ordered(comparison: Comparison) -> list[Row]:
    """What somebody has to look at first; within a verdict the largest change."""
    return sorted(
        comparison.rows,
        key=lambda row: (ORDER.index(row.verdict), -abs((row.ratio or 1.0) - 1.0), row.entry, row.metric),
    )


def comparison_text(comparison: Comparison, *, everything: bool = False, colour: bool = False) -> str:
    """Without `everything`, what is equivalent is only counted."""
    rows = _shown(comparison, everything)
    blocks = [f"{printable(comparison.base)} → {printable(comparison.head)}"]
    if rows:
        blocks.append(_table(rows, colour))
    blocks += [counts_line(comparison), printable(_conclusion(comparison))]
    blocks += [f"note: {printable(note)}" for note in comparison.notes]
    besides = also_different(comparison.environment, most=None if everything else 4)
    blocks += [printable(besides)] if besides else []
    return "\n\n".join(blocks) + "\n"


def _shown(comparison: Comparison, everything: bool) -> list[Row]:
    return [row for row in ordered(comparison) if everything or row.verdict is not Verdict.EQUIVALENT]


def _table(rows: Sequence[Row], colour: bool) -> str:
    def paint(number: int, column: int, cell: str) -> str:
        code = _COLOURS.get(rows[number - 1].verdict) if number and column == 7 and colour else None
        return f"\x1b[{code}m{cell}\x1b[0m" if code else cell

    cells = [_HEAD, *(cells_of(row, printable) for row in rows)]
    return text_table(cells, right=(2, 3, 4), paint=paint)


def cells_of(row: Row, safe: Callable[[str], str]) -> tuple[str, ...]:
    """One row as words; `safe` makes a program's own text harmless where it is shown."""
    why = "; ".join([row.reason, *row.notes]) if row.reason else ""
    return (
        safe(row.entry),
        safe(row.metric),
        safe(quantity(row.before, row.unit)),
        safe(quantity(row.head, row.unit)),
        change(row),
        interval(row),
        f"{row.base_runs}+{row.head_runs}" if row.metric else "",
        str(row.verdict) + (f": {safe(why)}" if why else ""),
    )


def change(row: Row) -> str:
    return "–" if row.ratio is None else percent(row.ratio)


def interval(row: Row) -> str:
    return "–" if row.low is None or row.high is None else f"{percent(row.low)} to {percent(row.high)}"


def counts_line(comparison: Comparison) -> str:
    return (
        ", ".join(f"{count} {verdict}" for verdict, count in comparison.counts.items() if count) or "nothing to compare"
    )


def _conclusion(comparison: Comparison) -> str:
    return f"{comparison.answer}: {comparison.reason}"


def comparison_markdown(comparison: Comparison, *, everything: bool = False) -> str:
    """Notable rows open, the equivalent ones folded away: a pull request shows what matters."""
    rows = _shown(comparison, everything=False)
    same = comparison.of(Verdict.EQUIVALENT)
    blocks = [
        f"### {_escape(_conclusion(comparison))}",
        f"`{_code(comparison.base)}` → `{_code(comparison.head)}`: {counts_line(comparison)}",
    ]
    if rows:
        blocks.append(_markdown_table(rows))
    if same:
        opened = " open" if everything else ""
        blocks.append(
            f"<details{opened}><summary>{len(same)} equivalent</summary>\n\n{_markdown_table(same)}\n\n</details>"
        )
    blocks += [f"> {_escape(note)}" for note in comparison.notes]
    besides = also_different(comparison.environment, most=None if everything else 10)
    blocks += [_escape(besides)] if besides else []
    return "\n\n".join(blocks) + "\n"


def _markdown_table(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_HEAD) + " |", "|---|---|--:|--:|--:|---|---|---|"]
    for row in rows:
        cells = list(cells_of(row, _escape))
        if row.verdict in _COLOURS:
            cells[7] = f"**{row.verdict}**" + cells[7].removeprefix(str(row.verdict))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """A metric may be called anything: nothing of it may become markup, a link or a mention."""
    return printable(text).replace("\t", " ").translate(_MARKUP)


def _code(text: str) -> str:
    return printable(text).replace("`", "'")
