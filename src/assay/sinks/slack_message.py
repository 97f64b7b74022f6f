"""A session as one Slack message, within Slack's limits: 50 blocks, 3,000 characters a section, 150 a header, and about
13,000 in all (not documented; above it Slack answers msg_blocks_too_long, slackapi/bolt-js issue 2509)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.files.json_text import shorten
from assay.record import Environment, Outcome, Record

HEADER, SECTION, CONTEXT, ALL = 150, 2900, 500, 8000
_CHANGES = 1800
_LONGEST_LINE = 400

_NEVER_RAN = (Outcome.NOT_STARTED, Outcome.SKIPPED)
"""Outcomes of runs that have no time and no log to speak of."""


@dataclass(frozen=True)
class SlackRow:
    """A run in a line."""

    outcome: str
    line: str

    @classmethod
    def of(cls, record: Record, metrics: Sequence[str]) -> SlackRow:
        shown = [name for name in metrics if name in record.metrics]
        name = record.name if record.repeat == 1 else f"{record.name} (run {record.repeat})"
        parts = [code(name), *([escape(_format_metrics(record, shown))] if shown else [])]
        if not record.success:
            parts.append(escape(shorten("; ".join(record.reasons) or str(record.outcome), 300)))
        return cls(str(record.outcome), f"{_mark(record.outcome)} {'  '.join(parts)}"[:_LONGEST_LINE])

    @property
    def failed(self) -> bool:
        return self.outcome != Outcome.PASSED


_NO_PASS = ("fail", "regressed")
_RESULTS = {"fail": "❌", "regressed": "🔻", "cannot tell": "❔", "nothing to compare with": "⚪"}


@dataclass(frozen=True)
class SlackMessage:
    session: str
    environment: Environment
    rows: Sequence[SlackRow]
    planned: int = 0
    running: str = ""
    finished: bool = False
    changes: str = ""
    result: str = ""
    """The verdict's: a session whose runs all passed may have missed a gate."""
    headline: str = ""
    pings: tuple[str, ...] = ()
    key: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What notifications show."""
        failed = sum(row.failed for row in self.rows)
        done = len(self.rows)
        if not self.finished:
            of = f" of {self.planned}" if self.planned > done else ""
            return f"Assay {self.session}: {done}{of} done, {failed} failed"
        if failed:
            return f"Assay {self.session}: {failed} of {done} failed"
        if self.result in _NO_PASS:
            return f"Assay {self.session}: {self.headline}"
        return f"Assay {self.session}: all {done} passed"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        mark = (
            "⏳"
            if not self.finished
            else "❌"
            if any(row.failed for row in self.rows)
            else _RESULTS.get(self.result, "✅")
        )
        blocks = [
            {"type": "header", "text": {"type": "plain_text", "text": f"{mark} {self.text}"[:HEADER]}},
            _context(_machine(self.environment)),
        ]
        if self.running and not self.finished:
            blocks.append(_context(f"running {code(self.running)}"))
        blocks += [_context(f"<{_address(url)}|{escape(name)}>") for name, url in self.links.items()]
        blocks += [_section(text) for text in _pack(self._lines())]
        if self.pings:
            blocks.append(_section(" ".join(map(mention, self.pings))))
        if self.changes:
            blocks.append(_section(f"```{escape(self.changes)[:_CHANGES].replace('```', '')}```"))
        return [*blocks, _context(escape(f"assay · {self.key}"))]

    def _lines(self) -> list[str]:
        """What failed first; what does not fit is counted."""
        ordered = sorted(self.rows, key=lambda row: not row.failed)
        lines: list[str] = []
        size = 0
        for place, row in enumerate(ordered):
            size += len(row.line) + 1
            if size > ALL:
                left = Counter(row.outcome for row in ordered[place:])
                return [*lines, "… and " + ", ".join(f"{number} more {outcome}" for outcome, number in left.items())]
            lines.append(row.line)
        return lines


def reply_blocks(record: Record, metrics: Sequence[str], pings: Sequence[str], key: str) -> list[dict[str, Any]]:
    """What a run says in the session's thread."""
    told = f"{_mark(record.outcome)} {code(record.name)} {record.outcome.words}"
    if record.outcome not in _NEVER_RAN:
        told += f" after {record.exec_time_s:.1f} s"
    if not record.success:
        told += "\n" + escape(shorten("; ".join(record.reasons) or str(record.outcome), 1500))
    shown = [name for name in metrics if name in record.metrics]
    if shown:
        told += "\n" + escape(_format_metrics(record, shown))[:500]
    if record.warnings:
        told += "\n" + escape("\n".join(f"⚠ {warning}" for warning in record.warnings))[:500]
    if record.stdouterr_file and not record.success and record.outcome not in _NEVER_RAN:
        told += f"\nlog: {code(record.stdouterr_file[-300:])}"
    if pings:
        told += "\n" + " ".join(map(mention, pings))
    return [_section(told), _context(escape(f"assay · {key}"))]


def _format_metrics(record: Record, names: Sequence[str]) -> str:
    known = record.metrics
    return "  ".join(f"{name} {_value(known[name].value, known[name].unit)}" for name in names)


def _address(url: str) -> str:
    """The URL as it may stand in Slack's <address|text>."""
    return url.replace("&", "&amp;").replace("<", "%3C").replace(">", "%3E").replace("|", "%7C")[:400]


def mention(who: str) -> str:
    if re.fullmatch(r"[UW][A-Z0-9]{4,}", who):
        return f"<@{who}>"
    if re.fullmatch(r"S[A-Z0-9]{4,}", who):
        return f"<!subteam^{who}>"
    if who.lstrip("@") in ("here", "channel", "everyone"):
        return f"<!{who.lstrip('@')}>"
    return escape(f"@{who.lstrip('@')}")


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """The text as code, in which nothing is formatted: names come from files and programs."""
    return f"`{escape(' '.join(text.split())[:200]).replace('`', chr(39))}`"


def _pack(lines: Iterable[str]) -> list[str]:
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + 1 + len(line) <= SECTION:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return texts


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:3000]}}


def _context(text: str) -> dict[str, Any]:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text[:CONTEXT] or " "}]}


def _machine(environment: Environment) -> str:
    known = (
        environment.host,
        f"{environment.cpu_model}, {environment.cores} cores" if environment.cpu_model else "",
        f"{round(environment.memory_mb / 1024)} GB" if environment.memory_mb else "",
        ", ".join(environment.gpus),
        f"Python {environment.python}" if environment.python else "",
        f"commit {environment.git_commit[:10]}" if environment.git_commit else "",
        environment.reason or "",
    )
    return escape(" · ".join(part for part in known if part)) or "machine unknown"


def _mark(outcome: str) -> str:
    return "✅" if outcome == Outcome.PASSED else "⏭" if outcome == Outcome.SKIPPED else "❌"


def _value(value: object, unit: str | None) -> str:
    number = f"{value:.4g}" if isinstance(value, float) else str(value)[:60]
    return f"{number} {unit}" if unit else number
