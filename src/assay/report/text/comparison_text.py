"""A comparison as text for the terminal, or as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shutil import get_terminal_size

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.comparing.comparison import GRAVEST_FIRST
from assay.analysis.comparing.environment_difference import also_different
from assay.analysis.sentences.comparison_sentences import count_unchanged
from assay.analysis.sentences.conclusion_sentences import count_verdicts, verdict_word
from assay.report.printable import printable
from assay.report.quantity import percent, quantity
from assay.report.text.comparison_order import order_rows
from assay.report.text.comparison_screen import comparison_screen

_LOUD = (Verdict.REGRESSED, Verdict.IMPROVED)
_MARKUP = str.maketrans({char: f"&#{ord(char)};" for char in "\\`*[]<>|#@~&"})
_HEAD = ("entry", "metric", "A", "B", "change", "interval", "runs", "verdict")


def comparison_text(
    comparison: Comparison, *, everything: bool = False, colour: bool = False, width: int | None = None
) -> str:
    """Without `everything`, what is equivalent is only counted. `width`: of the terminal, if it is not to be asked."""
    columns = get_terminal_size((80, 24)).columns if width is None else width
    return comparison_screen(comparison, everything=everything, colour=colour, width=max(columns, 40))


def _choose_rows(comparison: Comparison, everything: bool) -> list[Row]:
    return [row for row in order_rows(comparison) if everything or row.verdict is not Verdict.EQUIVALENT]


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
        verdict_word(row.verdict) + (f": {safe(why)}" if why else ""),
    )


def change(row: Row) -> str:
    return "–" if row.ratio is None else percent(row.ratio)


def interval(row: Row) -> str:
    return "–" if row.low is None or row.high is None else f"{percent(row.low)} to {percent(row.high)}"


def counts_line(comparison: Comparison) -> str:
    return count_verdicts({str(verdict): comparison.counts[verdict] for verdict in GRAVEST_FIRST})


def _conclusion(comparison: Comparison) -> str:
    return f"{comparison.answer}: {comparison.reason}"


def comparison_markdown(comparison: Comparison, *, everything: bool = False) -> str:
    """Notable rows open, the equivalent ones folded away: a pull request shows what matters."""
    rows = _choose_rows(comparison, everything=False)
    same = comparison.of(Verdict.EQUIVALENT)
    base, head = _code(comparison.base.removeprefix("A: ")), _code(comparison.head.removeprefix("B: "))
    blocks = [
        f"### {_escape(_conclusion(comparison))}",
        f"A = `{base}`, B = `{head}`: {counts_line(comparison)}",
    ]
    if rows:
        blocks.append(_markdown_table(rows))
    if same:
        opened = " open" if everything else ""
        blocks.append(
            f"<details{opened}><summary>{count_unchanged(same)}</summary>\n\n{_markdown_table(same)}\n\n</details>"
        )
    blocks += [f"> {_escape(note)}" for note in comparison.notes]
    besides = also_different(comparison.environment, most=None if everything else 10)
    blocks += [_escape(besides)] if besides else []
    return "\n\n".join(blocks) + "\n"


def _markdown_table(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_HEAD) + " |", "|---|---|--:|--:|--:|---|---|---|"]
    for row in rows:
        cells = list(cells_of(row, _escape))
        if row.verdict in _LOUD:
            cells[7] = f"**{row.verdict}**" + cells[7].removeprefix(str(row.verdict))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """A metric may be called anything: nothing of it may become markup, a link or a mention."""
    return printable(text).replace("\t", " ").translate(_MARKUP)


def _code(text: str) -> str:
    return printable(text).replace("`", "'")
