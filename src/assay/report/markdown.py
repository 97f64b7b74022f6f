"""The report's content as Markdown: for a pull request, a wiki, a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.analysis import Comparison, Verdict, extract, what_changed
from assay.analysis.conditions import also_different
from assay.analysis.sentences.conclusion_sentences import verdict_word
from assay.history import History
from assay.record import Record, SessionFolder
from assay.report.entry_page import EntryPage
from assay.report.exhibits.colocated_stages import Company
from assay.report.exhibits.colocation import ColocationExhibit
from assay.report.exhibits.heat_map import HeatCell, HeatMap
from assay.report.exhibits.plots import Grid
from assay.report.insight_groups import InsightGroup, insight_groups
from assay.report.page_templates import verdict_counts
from assay.report.quantity import duration, percent, printable, quantity, round_quantity
from assay.report.run_folder import MOST_INSIGHTS, PageLimits
from assay.report.session_page import SessionPage


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    ruler = ["---:" if i in right else "---" for i in range(len(columns))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ruler, *rows))


def escape(text: str) -> str:
    """The text for any place of a table: no markup, no HTML, no second cell."""
    shown = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{char}" if char in "\\`*_[]|#~!" else char for char in shown)


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


def session_markdown(
    folder: SessionFolder,
    *,
    history: History | None = None,
    comparison: Comparison | None = None,
    base: Sequence[Record] | None = None,
) -> str:
    """The session as Markdown. Arguments are those of `render_report`; nothing is drawn, so `base` changes nothing."""
    if comparison is None and history is not None:
        comparison = what_changed(folder.records(), history)
    page = SessionPage.of(folder, comparison, PageLimits(points=50, log_lines=20, metrics=60))
    view = page.view
    commit = view.environment.git_commit
    blocks = [
        f"# {escape(view.info.name)}",
        f"**{escape(page.first.band.says)}**",
        f"{view.info.status} · {view.counts()} · {duration(view.seconds)}  \n"
        f"{escape(view.environment.described)}" + (f" · git {escape(commit[:10])}" if commit else ""),
        "## What changed",
        *(f"- {escape(gate.entry)} {escape(gate.reason_line)}" for entry in view.entries for gate in entry.gates),
        _changes(comparison) if comparison else "There is no earlier session to compare with.",
        *_insights(folder),
        "## Entries",
        table(("entry", "outcome", "runs", "time", "measured"), (_row(entry) for entry in page.entries), right=(2, 3)),
        *(_entry(entry) for entry in page.entries),
        "## Environment",
        table(("", ""), _environment(page)),
    ]
    return "\n\n".join(block.rstrip("\n") for block in blocks if block) + "\n"


def _insights(folder: SessionFolder) -> list[str]:
    groups = insight_groups(extract(folder.records(), folder.path))[:MOST_INSIGHTS]
    return ["## What stands out", "\n".join(map(_insight, groups))] if groups else []


def _insight(group: InsightGroup) -> str:
    evidence = f" ({escape(group.evidence)})" if group.evidence else ""
    names = f" ({escape(', '.join(group.entries))})" if len(group.entries) > 1 else ""
    return f"- **{escape(group.who)}**{names}: {escape(group.says)}{evidence}. {escape(group.advice)}"


def _changes(comparison: Comparison) -> str:
    changed = [*comparison.regressed, *comparison.of(Verdict.IMPROVED)]
    head = f"Against {escape(comparison.base)}: {verdict_counts(comparison)}."
    if comparison.environment:
        head += f"\n\n{escape(also_different(comparison.environment, most=10))}"
    if not changed:
        return head
    rows = (
        (f"{escape(row.entry)} {escape(row.metric)}", f"**{verdict_word(row.verdict)}**",
         escape(quantity(row.before, row.unit)), escape(quantity(row.head, row.unit)),
         "–" if row.ratio is None else percent(row.ratio), escape(row.reason))
        for row in changed
    )  # fmt: skip
    return f"{head}\n\n" + table(("metric", "verdict", "before", "now", "change", "why"), rows, right=(2, 3, 4))


def _row(entry: EntryPage) -> tuple[str, ...]:
    view = entry.view
    outcome = view.outcome_words + (", **regressed**" if entry.regressed else "")
    passed = sum(run.success for run in view.counted)
    measured = ", ".join(f"{escape(m.name)} {escape(m.value)}" for m in entry.headline)
    return escape(view.name), outcome, f"{passed}/{len(view.counted)}", duration(view.exec_time_s), measured


def _entry(entry: EntryPage) -> str:
    view = entry.view
    blocks = [f"### {escape(view.name)}", "\n".join(f"- {escape(text)}" for text in (*view.reasons, *view.warnings))]
    if view.requirements:
        rows = (
            (
                escape(r.metric),
                escape(r.expected),
                escape(quantity(r.actual)),
                r.undecided or ("yes" if r.ok else "**no**"),
            )
            for r in view.requirements
        )
        blocks.append(table(("requirement", "required", "measured", "holds"), rows, right=(2,)))
    if entry.metrics:
        metrics = (
            (escape(m.name), escape(m.value), escape(m.spread), verdict_word(m.change.verdict) if m.change else "")
            for m in entry.metrics
        )
        blocks.append(table(("metric", "value", "spread", "change"), metrics, right=(1,)))
    if entry.left_out:
        blocks.append(f"{entry.left_out} more metrics are in results.jsonl.")
    if entry.colocation:
        blocks += colocation_markdown(entry.colocation)
    blocks += [_grid(grid) for grid in entry.grids]
    for shown, _ in entry.distributions:
        ladder = ", ".join(f"{name} {quantity(value, shown.unit)}" for name, value in shown.percentiles)
        blocks.append(f"{escape(shown.metric)}, {shown.count} samples: {escape(ladder)}")
    for part in entry.stages:
        stages = [
            (escape(s.name), f"{s.share:.1%}", quantity(s.seconds, "s"), str(s.calls), quantity(s.p50_s, "s"))
            for s in part.stages
        ]
        if part.untimed_s:
            stages.append(
                ("not in any stage", f"{part.untimed_share:.1%}", round_quantity(part.untimed_s, "s"), "–", "–")
            )
        head = f"stage of {escape(part.pipeline)}" if part.pipeline else "stage"
        blocks.append(table((head, "share", "total", "calls", "median call"), stages, right=(1, 2, 3, 4)))
    blocks += [f"{plot.title}: {plot.says}" for plot in entry.plots]
    if entry.log and not view.passed:
        blocks.append("End of its output:\n\n" + _code(entry.log))
    return "\n\n".join(block for block in blocks if block)


def _grid(grid: Grid) -> str:
    right = [i for i, cell in enumerate(grid.rows[0]) if cell.number]
    rows = ([escape(cell.text) for cell in row] for row in grid.rows)
    text = f"{escape(grid.title)}:\n\n" + table([escape(column) for column in grid.columns], rows, right=right)
    return f"{text}\n\n{grid.note}" if grid.note else text


def _environment(page: SessionPage) -> list[tuple[str, str]]:
    e = page.view.environment
    facts = {
        "host": e.host, "operating system": e.os, "processor": e.cpu_model, "cores": str(e.cores),
        "memory": f"{e.memory_mb} MB", "GPUs": ", ".join(e.gpus) or "none", "python": e.python,
        "GPU driver": e.gpu_driver, "CUDA": e.cuda, "interpreter": e.interpreter,
        "git": f"{e.git_commit or '–'}{' (changed)' if e.git_dirty else ''}",
    }  # fmt: skip
    return [(name, escape(value)) for name, value in facts.items() if value is not None]


def _code(text: str) -> str:
    """Fenced by more backticks than there are in it."""
    fence = "`" * 3
    while fence in text:
        fence += "`"
    return f"{fence}\n{printable(text, keep_lines=True)}\n{fence}"
