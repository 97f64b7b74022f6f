"""JUnit XML as CI systems read it: one suite a session, one case a run. There is no standard; the elements are
those of the schema that Jenkins' xUnit plug-in publishes (junit-10.xsd), which GitLab, GitHub actions, Buildkite
and Azure read as well."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from assay.record import Outcome, Record
from assay.sinks.key import Key
from assay.sinks.sink import Sink
from assay.untrusted.writing import open_new, temporary_name

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
        told += "/>\n" if element == "skipped" else f" type={_attribute(record.outcome)}>{_text(reasons)}</{element}>\n"
    log = f"<system-out>{_text(f'log: {record.stdouterr_file}')}</system-out>\n" if record.stdouterr_file else ""
    return f"{head}<properties>\n{properties}</properties>\n{told}{log}</testcase>\n"


def _text(value: object) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)))


def _attribute(value: object) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)))
