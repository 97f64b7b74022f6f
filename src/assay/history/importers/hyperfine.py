"""`hyperfine --export-json`: times in seconds; it names neither the machine nor when it ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.history.importers.foreign import ForeignSession, MalformedForeign, Timed, mapping, seconds
from assay.record import Environment, Outcome


def is_one(written: Mapping[str, Any]) -> bool:
    results = written.get("results")
    return isinstance(results, list) and all(isinstance(r, Mapping) and "command" in r for r in results)


def read(written: Mapping[str, Any], name: str, changed: str) -> ForeignSession:
    return ForeignSession.build(name, "hyperfine", Environment(), _read_benchmarks(written["results"], changed))


def _read_benchmarks(results: list[Mapping[str, Any]], changed: str) -> Iterator[Timed]:
    for number, result in enumerate(results):
        if result.get("times") is None:
            # Old versions wrote only the summary; one value is all there is.
            times = seconds([result.get("median", result.get("mean"))], f"results[{number}].median")
        else:
            times = seconds(result["times"], f"results[{number}].times")
        codes = result.get("exit_codes") or []
        if not isinstance(codes, list):
            raise MalformedForeign(f"results[{number}].exit_codes is not a list")
        bad = [code for code in codes if code != 0]
        yield Timed(
            name=str(result["command"]),
            seconds=times,
            started_at=changed,
            command=str(result["command"]),
            params=mapping(result.get("parameters")),
            extra=_own(result),
            outcome=Outcome.FAILED if bad else Outcome.PASSED,
            reasons=(f"{len(bad)} of {len(codes)} runs exited with {bad[0]}",) if bad else (),
        )


def _own(result: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: result.get(name) for name in ("user", "system")}
    return {
        f"{name}_s": {"value": value, "unit": "s", "better": "lower"}
        for name, value in found.items()
        if isinstance(value, int | float)
    }
