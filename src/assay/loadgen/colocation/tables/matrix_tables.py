from __future__ import annotations

from assay.loadgen.colocation.matrix import Matrix
from assay.loadgen.colocation.running.group import Group, neighbours
from assay.loadgen.colocation.slowdown.contrast import Contrast
from assay.loadgen.colocation.slowdown.slowdown import Slowdown, What
from assay.loadgen.colocation.tables.group_tables import run_text
from assay.loadgen.colocation.tables.text_table import duration, table

_TITLES: tuple[tuple[What, str], ...] = (("throughput", "throughput"), ("p99", "p99 latency"))


def matrix_text(matrix: Matrix) -> str:
    """Each pipeline alone, each group of the last round, what they did to each other, and the matrix of it."""
    parts = []
    for run in [run for run in matrix.runs if run.round == matrix.runs[-1].round]:
        names = [pipeline.config.name for pipeline in run.outcome.pipelines]
        title = f"{names[0]} alone" if len(names) == 1 else " + ".join(names)
        parts.append(f"== {title}\n{run_text(run.outcome)}")
    parts += ["== alone and beside, over the same window", *map(contrast_text, matrix.contrasts)]
    return "\n\n".join([*parts, "== who slows whom", matrix_table(matrix)])


def contrast_text(contrast: Contrast) -> str:
    """One pipeline alone and beside others: every figure of both, over the same window, and what that comes to."""
    title = f"{contrast.pipeline} beside {beside_words(contrast)}"
    if not contrast.rounds:
        return f"{title}: {contrast.problem}"
    rounds = "1 round" if len(contrast.rounds) == 1 else f"{len(contrast.rounds)} rounds, each"
    same = "the same queries" if contrast.paired else "the same stretch of time, with other queries"
    names = contrast.rounds[0].beside.result.stages
    rows = []
    for slowdown in contrast.slowdowns:
        of = "" if slowdown.stage is None else f"stage {slowdown.stage} {names[slowdown.stage].name}, "
        rows.append([f"{of}{slowdown.what}", _value(slowdown, slowdown.alone), _value(slowdown, slowdown.beside)])
        rows[-1].append(cell_text(slowdown) if slowdown.rounds else slowdown.reason)
    head = f"{title} ({rounds} {contrast.seconds:.3g} s together; alone, {same})"
    return head + "\n" + table(["", "alone", "beside", "slowdown"], rows)


def beside_words(contrast: Contrast) -> str:
    return " + ".join("its own copy" if name == contrast.pipeline else name for name in contrast.beside)


def matrix_table(matrix: Matrix) -> str:
    """Rows suffer, columns cause. Throughput and p99, each with its 95% interval."""
    columns: list[Group] = (
        [(name,) for name in matrix.names]
        if all(len(group) == 2 for group in matrix.groups)
        else list(dict.fromkeys(neighbours(group, name) for group in matrix.groups for name in group))
    )
    blocks = []
    for what, title in _TITLES:
        rows = [[name, *(_cell(matrix.contrast(name, beside), what) for beside in columns)] for name in matrix.names]
        head = ["", *(" + ".join(beside) for beside in columns)]
        blocks.append(f"slowdown of {title} (row beside column, against alone)\n" + table(head, rows))
    return "\n\n".join([*blocks, *_reasons(matrix), _interval_words(matrix)])


def _reasons(matrix: Matrix) -> list[str]:
    lines = []
    for contrast in matrix.contrasts:
        missing = {title: contrast.slowdown(what).reason for what, title in _TITLES}
        for reason in dict.fromkeys(reason for reason in missing.values() if reason):
            of = " and ".join(title for title, why in missing.items() if why == reason)
            lines.append(f"no {of} of {contrast.pipeline} beside {beside_words(contrast)}: {reason}")
    return ["\n".join(lines)] if lines else []


def _interval_words(matrix: Matrix) -> str:
    rounds = max((len(contrast.rounds) for contrast in matrix.contrasts), default=0)
    if rounds > 1:
        # With two, chance alone puts the ends of an interval 12.7 standard errors apart; with five, 2.8 (Student's t).
        wide = "; of two they are very wide (--repeat 5 narrows them)" if rounds == 2 else ""
        return f"in brackets: 95% intervals over {rounds} rounds{wide}"
    return (
        "in brackets: 95% intervals of one round; they hold what its parts differ by, not what another round would "
        "differ by (--repeat 3 tells)"
    )


def _cell(contrast: Contrast | None, what: What) -> str:
    return "–" if contrast is None else cell_text(contrast.slowdown(what))


def cell_text(slowdown: Slowdown) -> str:
    interval = slowdown.interval
    if interval is None:
        return "–"
    word = {True: "slower", False: "faster", None: "inconclusive"}[slowdown.slower]
    if len(slowdown.rounds) == 1 and slowdown.slower is not None:
        word += " this time"
    # Beyond these, rounds differ so much that a figure would say nothing.
    low = "<0.1" if interval.low < 0.1 else f"{interval.low:.2f}"
    high = ">100" if interval.high > 100 else f"{interval.high:.2f}"
    return f"{interval.estimate:.2f} [{low}, {high}] {word}"


def _value(slowdown: Slowdown, ns: float | None) -> str:
    if ns is None:
        return "–"
    return f"{1e9 / ns:.1f}/s" if slowdown.what == "throughput" else duration(ns)
