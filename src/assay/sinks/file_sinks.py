"""JUnit XML as CI systems read it: one suite a session, one case a run. There is no standard; the elements are
those of the schema that Jenkins' xUnit plug-in publishes (junit-10.xsd), which GitLab, GitHub actions, Buildkite
and Azure read as well."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from assay.files.json_text import encode, shorten
from assay.files.writing import open_existing, open_new, temporary_name
from assay.record import Outcome, Record
from assay.sinks.delivery.outbox import Memory
from assay.sinks.sink import Key, Sink


class AppendedFile:
    """A file that grows by whole pieces, each once: before a piece is written, where it will begin is remembered,
    so that after a kill one look there tells whether it was. Several sessions may append to the same file."""

    def __init__(self, path: Path, memory: Memory, session: Path) -> None:
        """A link is followed only outside of the session's folder, where the user put it."""
        self._path = path
        self._follow_links = not path.is_relative_to(session)
        self._memory = memory

    def append(self, key: str, piece: str, heading: str = "") -> None:
        """`heading` is written first into a file that is empty."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        data = piece.encode()
        descriptor = open_existing(self._path, follow_links=self._follow_links)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            end = os.lseek(descriptor, 0, os.SEEK_END)
            begun = self._memory.get(f"written {key}")
            if begun is not None and begun <= end and data in os.pread(descriptor, end - begun, begun):
                return
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                data = b"\n" + data
            self._memory[f"written {key}"] = end
            if not end:
                data = heading.encode() + data
            try:
                _write_all(descriptor, data)
            except OSError:
                os.ftruncate(descriptor, end)
                raise
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


COLUMNS = ("session", "entry", "repeat", "run_id", "started_at", "outcome", "metric", "value", "unit", "better")


class CsvSink(Sink):
    """One row a metric, so that entries with different metrics fit one table and a spreadsheet can pivot it."""

    summary = "one row for each metric of each run, appended to a CSV file that many sessions may share"
    keys = (Key("path", "the file; a relative path is meant from the session's folder (default: sinks/metrics.csv)"),)

    def process_result(self, result: dict[str, Any]) -> None:
        record = Record.from_json(result)
        path = self.context.folder / self.config.get("path", "sinks/metrics.csv")
        rows = _rows(record) or [(*_run(record), "", "", "", "")]
        AppendedFile(path, self.context.memory, self.context.folder).append(
            self.context.message_key, _text(rows), _text([COLUMNS])
        )
        self.context.announce("CSV", str(path))


def _run(record: Record) -> tuple[Any, ...]:
    return (record.session, record.name, record.repeat, record.run_id, record.started_at, str(record.outcome))


def _rows(record: Record) -> list[tuple[Any, ...]]:
    return [
        (*_run(record), name, metric.value, metric.unit or "", metric.better or "")
        for name, metric in record.metrics.items()
    ]


def _text(rows: list[tuple[Any, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([tuple(map(_inert, row)) for row in rows])
    return out.getvalue()


def _inert(value: Any) -> Any:
    """A spreadsheet runs a text that begins like a formula; metrics and names come from programs we do not trust."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


class JsonlSink(Sink):
    summary = "one line of JSON for each run, appended to a file that many sessions may share"
    keys = (
        Key("path", "the file; a relative path is meant from the session's folder (default: sinks/results.jsonl)"),
        Key("tasks", "true: with every timed task, not only the metrics (default: false)"),
    )

    def process_result(self, result: dict[str, Any]) -> None:
        shown = result if self.config.get("tasks") else {**result, "tasks": []}
        path = self.context.folder / self.config.get("path", "sinks/results.jsonl")
        AppendedFile(path, self.context.memory, self.context.folder).append(
            self.context.message_key, encode(shown) + "\n"
        )
        self.context.announce("JSON lines", str(path))


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MISSED = (Outcome.FAILED, Outcome.INVALID, Outcome.MISSED)


class JUnitSink(Sink):
    summary = "JUnit XML, so that any CI shows entries as tests"
    keys = (Key("path", "the file; a relative path is meant from the session's folder (default: sinks/junit.xml)"),)

    def finalize(self) -> None:
        path = self.context.folder / self.config.get("path", "sinks/junit.xml")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_name(path)
        with open_new(temporary) as out:
            self._write(out)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
        self.context.announce("JUnit", str(path))

    def _write(self, out: TextIO) -> None:
        """Two passes over the log: the counts stand before the cases."""
        counts: Counter[str] = Counter()
        seconds = 0.0
        for record in self.context.records():
            counts[_element(record)] += 1
            seconds += record.exec_time_s
        total = f'tests="{counts.total()}" failures="{counts["failure"]}" errors="{counts["error"]}" '
        total += f'skipped="{counts["skipped"]}" time="{seconds:.6f}"'
        info = self.context.info
        out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {total}>\n')
        out.write(f"<testsuite name={_attribute(self.context.session_name)} {total}")
        out.write(f" timestamp={_attribute(info.started_at[:19] if info else '')}")
        out.write(f" hostname={_attribute(self.context.environment.host)}>\n")
        for record in self.context.records():
            out.write(_case(record))
        out.write("</testsuite>\n</testsuites>\n")


def _element(record: Record) -> str:
    if record.success:
        return "passed"
    if record.outcome is Outcome.SKIPPED:
        return "skipped"
    return "failure" if record.outcome in _MISSED else "error"


def _case(record: Record) -> str:
    name = record.name if record.repeat == 1 else f"{record.name} (run {record.repeat})"
    head = f'<testcase classname="assay" name={_attribute(name)} time="{record.exec_time_s:.6f}">\n'
    properties = "".join(
        f"<property name={_attribute(metric.name)} value={_attribute(metric.value)}/>\n"
        for metric in record.metrics.values()
    )
    element = _element(record)
    told = ""
    if element != "passed":
        reasons = "; ".join(record.reasons) or str(record.outcome)
        told = f"<{element} message={_attribute(reasons[:1000])}"
        told += (
            "/>\n" if element == "skipped" else f" type={_attribute(record.outcome)}>{_xml_text(reasons)}</{element}>\n"
        )
    log = f"<system-out>{_xml_text(f'log: {record.stdouterr_file}')}</system-out>\n" if record.stdouterr_file else ""
    return f"{head}<properties>\n{properties}</properties>\n{told}{log}</testcase>\n"


def _xml_text(value: object) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)))


def _attribute(value: object) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)))


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
