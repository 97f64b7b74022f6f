"""Several sides compared, as a table for the terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.analysis import Row, Verdict
from assay.analysis.evidence import FEWEST_PAIRS
from assay.analysis.ranking import MOST_COMPARED, Ranked, RankedEntry, Ranking, Standing
from assay.report.markdown import escape, table
from assay.report.quantity import percent, printable, round_quantity
from assay.report.text.comparison import counts_line
from assay.report.text.screen import text_table

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


# What is said of several commands that ran in turn: only what their comparison's verdict bears out.

_MOST_SAID = 10


def relative_words(fastest: RankedEntry, one: RankedEntry) -> str:
    """Its time as a multiple of the fastest's, with the interval of that where the two were compared."""
    row = one.against
    if row is None or row.ratio is None:
        return f"{one.seconds / fastest.seconds:.2f}" if fastest.seconds > 0 else "–"
    interval = f" ({row.low:.2f} … {row.high:.2f})" if row.low is not None and row.high is not None else ""
    return f"{row.ratio:.2f}{interval}"


def ranking_lines(ranked: Sequence[RankedEntry], labels: Mapping[str, str]) -> list[str]:
    """What can be said of the fastest against each of the others."""
    if len(ranked) > MOST_COMPARED:
        return [f"{len(ranked)} commands are more than the {MOST_COMPARED} that are compared with each other"]
    lines = [against_words(ranked[0], other, labels) for other in ranked[1 : 1 + _MOST_SAID]]
    more = len(ranked) - 1 - _MOST_SAID
    return [*lines, f"and {more} more: the table has their intervals"] if more > 0 else lines


def against_words(fastest: RankedEntry, other: RankedEntry, labels: Mapping[str, str]) -> str:
    first, second, row = labels[fastest.name], labels[other.name], other.against
    if row is None:
        return f"{first} and {second}: no round has a run of both, so they cannot be compared"
    rounds = min(row.base_runs, row.head_runs)
    if rounds < FEWEST_PAIRS:
        runs = f"{rounds} run{'s' if rounds > 1 else ''} of each"
        return f"{first} and {second}: can't tell which is faster from {runs}; try --runs 10"
    if row.verdict is Verdict.REGRESSED and _beyond(row, 1):
        return f"{first} is {_times(row.ratio, row.low, row.high)} times faster than {second} ({_basis(row, rounds)})"
    if row.verdict is Verdict.IMPROVED and _beyond(row, -1):
        swapped = (1 / value if value else None for value in (row.ratio, row.high, row.low))
        return f"{second} is {_times(*swapped)} times faster than {first} ({_basis(row, rounds)})"
    if row.verdict is Verdict.EQUIVALENT:
        return f"{first} and {second} are equally fast: {row.reason} ({_basis(row, rounds)})"
    return f"{first} and {second}: can't tell which is faster from {rounds} runs of each: {row.reason}"


def _beyond(row: Row, side: int) -> bool:
    """Whether the whole interval lies on one side; a verdict can also rest on runs that are slow now and then."""
    end = row.low if side > 0 else row.high
    return row.ratio is not None and end is not None and (end - 1) * side > 0


def _times(ratio: float | None, low: float | None, high: float | None) -> str:
    assert ratio is not None
    half = "" if low is None or high is None else f" ± {(high - low) / 2:.2f}"
    return f"{ratio:.2f}{half}"


def _basis(row: Row, rounds: int) -> str:
    return f"{row.confidence:.0%}, {rounds} rounds in random order"
