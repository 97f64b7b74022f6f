from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from assay.record import Record
from assay.record.writing.shortened import shorten
from assay.sinks.files.appended_file import AppendedFile
from assay.sinks.key import Key
from assay.sinks.sink import Sink

# GitHub drops a step's whole summary when it is larger than 1 MiB; other things in the step need room too.
LIMIT = 500_000


class GitHubSummarySink(Sink):
    summary = "a Markdown table in the summary of a GitHub Actions step"
    keys = (
        Key(
            "path", "the file (default: what GITHUB_STEP_SUMMARY names, else sinks/summary.md in the session's folder)"
        ),
        Key("metrics", "metrics to show beside the time (default: none)"),
    )

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        metrics = config.get("metrics", [])
        return [] if isinstance(metrics, list) else ["metrics: must be a list of names"]

    def finalize(self) -> None:
        named = self.config.get("path") or os.environ.get("GITHUB_STEP_SUMMARY") or "sinks/summary.md"
        path = self.context.folder / Path(named)
        AppendedFile(path, self.context.memory, self.context.folder).append(self.context.message_key, self._markdown())
        self.context.announce("summary", str(path))

    def _markdown(self) -> str:
        metrics = [str(name) for name in self.config.get("metrics", [])]
        columns = ("", "entry", "outcome", "time (s)", *map(_cell, metrics), "why")
        lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
        counts: Counter[str] = Counter()
        size = left_out = 0
        for record in self.context.records():
            counts[str(record.outcome)] += 1
            line = _row(record, metrics)
            size += len(line.encode())
            if size > LIMIT:
                left_out += 1
            else:
                lines.append(line)
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())) or "nothing was run"
        closing = self.context.closing
        parts = [f"## Assay: {_cell(self.context.session_name)}", told, "\n".join(lines)]
        if left_out:
            parts.append(f"{left_out} more are in the session's folder; GitHub shows no larger summary.")
        if closing and closing.changes:
            fence = "`" * (max((len(run) for run in re.findall("`+", closing.changes)), default=0) + 3)
            parts.append(f"{fence}\n{closing.changes[:20_000]}\n{fence}")
        return "\n\n".join(parts) + "\n"


def _row(record: Record, metrics: list[str]) -> str:
    known = record.metrics
    values = [_number(known[name].value) if name in known else "" for name in metrics]
    mark = "✅" if record.success else "❌"
    name = record.name if record.repeat == 1 else f"{record.name} (run {record.repeat})"
    why = shorten("; ".join(record.reasons), 300)
    cells = (_cell(name), str(record.outcome), f"{record.exec_time_s:.2f}", *map(_cell, values), _cell(why))
    return f"| {mark} | {' | '.join(cells)} |"


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:100]


def _cell(text: str) -> str:
    """Nothing a program printed may become a link, an image or a tag in somebody's browser."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~@&$-])", r"\\\1", " ".join(text.split()))
