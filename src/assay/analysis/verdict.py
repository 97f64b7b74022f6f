"""The verdict document: what came of a session or a comparison, in one typed form that everything shows.

Terminal, report, Markdown, sinks, CI and `--json` render it; none of them decides anything again. A session keeps its
own as `verdict.json`, so that what it said stays what it said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from assay.analysis.conditions import also_different
from assay.errors import DataError
from assay.files.checked_fields import Written
from assay.files.json_text import encode, read_json, untag
from assay.files.reading import SESSION, Unreadable
from assay.files.writing import write_atomic

if TYPE_CHECKING:
    from assay.analysis.comparison import Comparison

SCHEMA_VERSION = 1
FILE_NAME = "verdict.json"

Result = Literal["pass", "fail", "regressed", "cannot tell", "nothing to compare with"]
"""`fail`: a gate was missed or a run failed; `regressed`: a comparison found it, and no gate asked."""
SYMBOLS: dict[Result, str] = {
    "pass": "✓", "fail": "✗", "regressed": "▼", "cannot tell": "?", "nothing to compare with": "○",
}  # fmt: skip
UNDECIDED = ("cannot tell", "nothing to compare with")


@dataclass(frozen=True)
class GateResult:
    """One metric of one entry against its baseline, judged for the session as a whole."""

    entry: str
    metric: str
    result: Result
    headline: str
    """The whole finding in a sentence: value, baseline, limit, uncertainty, and what to do."""
    expected: str
    """What is required, as the requirement says it."""
    limit: float | None = None
    """0.3 is 30%; None of an exact metric, which must not change."""
    value: Any = None
    unit: str | None = None
    baseline: Any = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    """Value over baseline, with its 95% interval."""
    sessions: int = 0
    """Earlier sessions that make the baseline."""
    reason: str = ""
    """Why it cannot be told."""
    next: str = ""
    """The command that would tell, or that says more."""

    def __str__(self) -> str:
        return f"{self.result}: {self.entry} {self.reason_line}"

    @property
    def reason_line(self) -> str:
        return f"{self.metric}: {self.headline}"

    @classmethod
    def from_json(cls, written: Written) -> GateResult:
        return cls(
            written.text("entry"), written.text("metric"), _result(written), written.text("headline"),
            written.text("expected", ""), written.number_or_none("limit"), written.values.get("value"),
            written.text_or_none("unit"), written.values.get("baseline"), written.number_or_none("ratio"),
            written.number_or_none("low"), written.number_or_none("high"), written.whole("sessions", 0),
            written.text("reason", ""), written.text("next", ""),
        )  # fmt: skip


@dataclass(frozen=True)
class VerdictDocument:
    result: Result
    headline: str
    base: str = ""
    """What it was compared with; empty where there was nothing."""
    head: str = ""
    gates: tuple[GateResult, ...] = ()
    """Missed ones first."""
    reasons: tuple[str, ...] = ()
    """What changed and what stays open, a line each."""
    context: tuple[str, ...] = ()
    """What else differs: it changes no verdict."""
    next: str = ""
    schema_version: int = SCHEMA_VERSION

    @property
    def symbol(self) -> str:
        return SYMBOLS[self.result]

    @property
    def exit_code(self) -> int:
        """1 a gate was missed, 3 regressed; 0 otherwise. `--strict` makes 4 of what is undecided."""
        return {"fail": 1, "regressed": 3}.get(self.result, 0)

    @property
    def undecided(self) -> bool:
        return self.result in UNDECIDED

    @property
    def lines(self) -> list[str]:
        """For a terminal or a message: gates that are not passed, then what changed, then what else differs."""
        return [*map(str, (gate for gate in self.gates if gate.result != "pass")), *self.reasons, *self.context]

    @property
    def lines_besides(self) -> list[str]:
        """The same where missed gates are listed elsewhere."""
        missed = {str(gate) for gate in self.gates if gate.result == "fail"}
        return [line for line in self.lines if line not in missed]

    def of_entry(self, name: str) -> tuple[GateResult, ...]:
        return tuple(gate for gate in self.gates if gate.entry == name)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "gates": [asdict(gate) for gate in self.gates], "exit_code": self.exit_code}

    @classmethod
    def from_json(cls, given: Any) -> VerdictDocument:
        written = Written(given)
        return cls(
            _result(written), written.text("headline", ""), written.text("base", ""), written.text("head", ""),
            tuple(GateResult.from_json(gate) for gate in written.objects("gates")),
            written.texts("reasons"), written.texts("context"), written.text("next", ""),
        )  # fmt: skip


def _result(written: Written) -> Result:
    found: Result = written.one_of("result", get_args(Result))  # type: ignore[assignment]
    return found


def read_verdict(session: Path) -> VerdictDocument | None:
    """None where it has none, or none that can be read: a session is shown all the same."""
    try:
        return VerdictDocument.from_json(read_json(session / FILE_NAME, SESSION, untag, own=True))
    except (FileNotFoundError, NotADirectoryError, DataError, Unreadable, OSError):
        return None


def write_verdict(session: Path, verdict: VerdictDocument) -> None:
    write_atomic(session / FILE_NAME, encode(verdict.to_json(), indent=2))


def overall(results: Sequence[Result]) -> Result:
    """The gravest; a gate that cannot tell is not made good by another that passed."""
    order: tuple[Result, ...] = ("fail", "regressed", "cannot tell", "nothing to compare with", "pass")
    return min(results, key=order.index, default="nothing to compare with")


def session_verdict(
    session: str, comparison: Comparison | None, gates: Sequence[GateResult], regressed: bool, reasons: Sequence[str],
    context: Sequence[str],
) -> VerdictDocument:  # fmt: skip
    """`regressed`: against the level of earlier sessions. Where gates are declared, they decide what is a pass."""
    missed = [gate for gate in gates if gate.result == "fail"]
    found: list[Result] = [gate.result for gate in gates]
    result = overall([*found, "regressed"] if regressed else found)
    if not gates and not regressed:
        result = _of_comparison(comparison)
    first = next((gate for gate in gates if gate.result == result), None)
    if first is not None and result != "pass":
        more = len([gate for gate in gates if gate.result == result]) - 1
        headline = f"{first.entry} {first.reason_line}" + (
            f"{'' if first.reason_line.endswith('.') else '.'} And {more} more." if more else ""
        )
    elif result == "pass":
        headline = f"{len(gates)} gate{'' if len(gates) == 1 else 's'} passed" if gates else "no regression found"
    elif comparison is None:
        headline = "nothing to compare with yet"
    elif comparison.regressed and not regressed:
        headline = f"not confirmed, it may be the machine: {comparison.reason}"
    else:
        headline = f"{comparison.answer}: {comparison.reason}"
    next_step = first.next if first is not None else ("assay ab" if result in ("regressed", "cannot tell") else "")
    if missed:
        next_step = missed[0].next
    return VerdictDocument(
        result, headline, comparison.base if comparison is not None else "", session, tuple(gates), tuple(reasons),
        tuple(context), next_step,
    )  # fmt: skip


def comparison_verdict(comparison: Comparison) -> VerdictDocument:
    """The document of `assay compare` and `assay ab`."""
    result: Result = "fail" if comparison.failures else "regressed" if comparison.regressed else "pass"
    if result == "pass":
        result = _of_comparison(comparison)
    besides = also_different(comparison.environment)
    return VerdictDocument(
        result, f"{comparison.answer}: {comparison.reason}", comparison.base, comparison.head,
        reasons=tuple(f"{row.entry} {row.metric}: {row.reason}" for row in comparison.regressed),
        context=(*([besides] if besides else []), *comparison.notes),
        next="assay ab --confirm" if result in ("regressed", "cannot tell") else "",
    )  # fmt: skip


def _of_comparison(comparison: Comparison | None) -> Result:
    if comparison is None or not comparison.compared:
        return "nothing to compare with"
    if comparison.regressed:
        return "cannot tell"  # it differs from the last session, which may be the machine
    return "cannot tell" if comparison.regression_detected is None else "pass"
