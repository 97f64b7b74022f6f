"""Several sides compared, as a table for the terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.analysis.comparing.ranking import Ranked, Ranking, Standing
from assay.report.markdown_text.markdown_table import escape, table
from assay.report.printable import printable
from assay.report.quantity import percent, round_quantity
from assay.report.text.comparison_text import counts_line
from assay.report.text.text_table import text_table

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HEAD = ("entry", "metric", "side", "median", "against A", "interval", "runs", "verdict")


def ranking_text(ranked: Ranked, *, everything: bool = False) -> str:
    """Without `everything`, metrics in which nothing was told apart are only counted."""
    shown = [one for one in ranked.rankings if everything or one.decided]
    blocks = ["\n".join(_sides(ranked))]
    if shown:
        blocks.append(text_table([_HEAD, *_rows(shown)], right=(3, 4)))
    left = len(ranked.rankings) - len(shown)
    if left:
        words = "1 metric" if left == 1 else f"{left} metrics"
        blocks.append(f"{words} not shown, because no side is better or worse than A there: --all shows them")
    return "\n\n".join(blocks) + "\n"


def ranking_markdown(ranked: Ranked) -> str:
    sides = "\n".join(f"- {escape(line)}" for line in _sides(ranked))
    rows = [[escape(cell) for cell in row] for row in _rows(ranked.rankings)]
    return f"{sides}\n\n{table(_HEAD, rows, right=(3, 4))}\n"


def _sides(ranked: Ranked) -> Iterator[str]:
    yield f"A  {printable(ranked.names[0])}"
    for letter, name, found in zip(LETTERS[1:], ranked.names[1:], ranked.comparisons, strict=False):
        yield f"{letter}  {printable(name)}: {found.answer}; {counts_line(found)}"


def _rows(shown: Sequence[Ranking]) -> Iterator[tuple[str, ...]]:
    for ranking in shown:
        for place, one in enumerate(ranking.standings):
            named = (printable(ranking.entry), printable(ranking.metric)) if not place else ("", "")
            yield (*named, *_cells(ranking, one))


def _cells(ranking: Ranking, one: Standing) -> tuple[str, ...]:
    low, high = one.ratio_low, one.ratio_high
    return (
        LETTERS[one.side],
        printable(round_quantity(one.value, ranking.unit)),
        "–" if one.ratio is None else percent(one.ratio),
        "–" if low is None or high is None else f"{percent(low)} to {percent(high)}",
        str(one.runs),
        str(one.verdict or ""),
    )
