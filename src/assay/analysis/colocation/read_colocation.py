"""What `assay colocate` left in its folder, as records: one a pipeline and round, an entry each way it was run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.files.json_text import read_json, untag
from assay.files.reading import NAMED
from assay.record import COLOCATION_FILE, Fingerprint, Outcome, Record, Usage
from assay.record.environment import digest

FILE_NAME = COLOCATION_FILE
_GPU = {
    "peak_memory_mb": "MB",
    "energy_j": "J",
    "joules_per_query": "J",
    "joules_per_token": "J",
    "joules_per_sample": "J",
}
_RATES = ("throughput", "goodput")
_LATENCIES = ("latency", "first_result", "per_item", "group_latency")
_SHARES = ("p50_us", "p99_us", "p99.9_us")


def read_colocation(folder: Path) -> tuple[Record, ...]:
    path = folder / FILE_NAME
    written = read_json(path, NAMED, untag)
    if not isinstance(written, dict):
        raise DataError(f"{path}: holds a {type(written).__name__}, not what `assay colocate` writes")
    started = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="microseconds")
    try:
        newer = "version" in written
        runs = [_record(folder.name, started, *one) for one in (_runs(written) if newer else _pipelines(written))]
        runs += _peak(folder.name, started, (written["rates"] or {}) if newer else written)
        runs += _slowdowns(folder.name, started, written.get("cells", ()))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: is not what `assay colocate` writes: {type(error).__name__} {error}") from None
    if not runs:
        raise DataError(f"{path}: has no pipelines")
    return tuple(runs)


def _runs(written: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Entry, round and result of each pipeline in each group that ran, from a file of version 2."""
    rates = written["rates"] or {"pipeline": None, "trials": []}
    tried = {trial["run"]: trial["rate"] for trial in rates["trials"]}
    for run in written["runs"]:
        for pipeline in run["pipelines"]:
            name = pipeline["pipeline"]
            others = " + ".join(other for other in run["members"] if other != name)
            entry = f"{name} beside {others}" if others else f"{name} alone"
            if run["label"] in tried:
                if name != rates["pipeline"]:
                    continue
                entry = f"{name} at rate {tried[run['label']]:g}"
            yield entry, run["round"], pipeline if run["alone"] else {**pipeline, "together": pipeline["window"]}


def _pipelines(written: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Entry, round and result, from a file before version 2: all together, a matrix, or one at several rates."""
    if "trials" in written:
        for trial in written["trials"]:
            for pipeline in trial["pipelines"]:
                yield f"{pipeline['pipeline']} at rate {trial['rate']:g}", 1, pipeline
        return
    groups = [[written]]
    if "solo" in written:
        groups = [*written["solo"].values(), *(together["rounds"] for together in written["together"])]
    for rounds in groups:
        for number, outcome in enumerate(rounds, 1):
            names = [pipeline["pipeline"] for pipeline in outcome["pipelines"]]
            for name, pipeline in zip(names, outcome["pipelines"], strict=True):
                others = " + ".join(other for other in names if other != name)
                yield f"{name} beside {others}" if others else f"{name} alone", number, pipeline


def _record(session: str, started: str, entry: str, number: int, pipeline: Mapping[str, Any]) -> Record:
    params = {"asked_rate": pipeline["asked_rate"]}
    return Record(
        name=entry,
        session=session,
        run_id=f"{session}/{entry}/run-{number:02d}",
        outcome=Outcome.PASSED if pipeline["ending"]["how"] == "finished" else Outcome.FAILED,
        started_at=started,
        fingerprint=Fingerprint(entry, digest(params), "", ""),
        exec_time_s=float(pipeline["duration_s"]),
        script_params=params,
        script_metrics=dict(_metrics(pipeline)),
        usage=Usage(),
        repeat=number,
    )


def _peak(session: str, started: str, written: Mapping[str, Any]) -> list[Record]:
    """The highest rate that `--find-peak` found; a failure where none met the objectives."""
    if not written.get("peak"):
        return []
    rate, entry = written["peak"]["rate"], f"{written['pipeline']} peak"
    found = rate is not None
    return [
        Record(
            name=entry, session=session, run_id=f"{session}/{entry}/run-01", started_at=started,
            outcome=Outcome.PASSED if found else Outcome.FAILED,
            reasons=() if found else ("no rate tried meets the objectives",),
            fingerprint=Fingerprint(entry, digest({}), "", ""),
            script_metrics={"peak_rate": {"value": rate, "unit": "1/s", "better": "higher"}} if found else {},
        )
    ]  # fmt: skip


def _slowdowns(session: str, started: str, cells: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    """One a pipeline and those beside it; what could not be told has no number and is left out."""
    found: dict[str, dict[str, Any]] = {}
    for cell in cells:
        if cell["estimate"] is not None:
            entry = f"slowdown of {cell['pipeline']} beside {' + '.join(cell['beside'])}"
            metric = cell["what"] if cell["stage"] is None else f"stage_{cell['stage']}_{cell['what']}"
            found.setdefault(entry, {})[metric] = {"value": cell["estimate"], "better": "lower"}
    for entry, metrics in found.items():
        yield Record(
            name=entry, session=session, run_id=f"{session}/{entry}/run-01", started_at=started,
            outcome=Outcome.PASSED, fingerprint=Fingerprint(entry, digest({}), "", ""), script_metrics=metrics,
        )  # fmt: skip


def _metrics(pipeline: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in _RATES:
        if pipeline.get(name) is not None:
            yield name, {"value": pipeline[name], "unit": "1/s", "better": "higher"}
    for name in _LATENCIES:
        for share in _SHARES if name in pipeline else ():
            value = pipeline[name].get(share)
            if value is not None:
                yield f"{name}_{share}", {"value": value, "unit": "us", "better": "lower"}
    together = pipeline.get("together", {})
    if together.get("throughput") is not None:
        yield "together_throughput", {"value": together["throughput"], "unit": "1/s", "better": "higher"}
    for share in ("p50_us", "p99_us"):
        if together.get(share) is not None:
            yield f"together_latency_{share}", {"value": together[share], "unit": "us", "better": "lower"}
    yield "cpu_s", {"value": pipeline["process_cpu_s"], "unit": "s", "better": "lower"}
    yield "peak_rss_mb", {"value": pipeline["process_peak_rss_mb"], "unit": "MB", "better": "lower"}
    for name, unit in _GPU.items():
        value = pipeline.get("gpu", {}).get(name)
        if value is not None:
            yield f"gpu_{name}", {"value": value, "unit": unit, "better": "lower"}
    for name in ("sent", "completed", "failed", "held_back"):
        yield name, pipeline[name]
