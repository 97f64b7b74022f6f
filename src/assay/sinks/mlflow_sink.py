"""Names of any kind as MLflow takes them, and back. MLflow allows letters, digits, `_ - . : /` and space, at most 250
of them, and no path that is not its own normal form. A character it refuses becomes `:hex:`, and so does the colon
itself, which makes the mapping reversible. What is too long is cut, and ends with a digest under which the whole name
is kept in a tag."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.files.json_text import encode
from assay.record import ENVIRONMENT_FILE, REPORT_FILE, SESSION_FILE, Metric, Outcome, Record
from assay.sinks.delivery.courier import once
from assay.sinks.sink import Key, Rejected, Sink, Unavailable

LONGEST = 250
NAME_TAG = "assay.name."
EMPTY = ":empty:"
"""Stand-in for an empty name. No other name becomes this: between colons only hexadecimal digits stand."""
_REFUSED = re.compile(r"[^A-Za-z0-9_\-. /]", re.ASCII)
# Slashes and dots where a path would not be in its normal form: at the ends, doubled, and the segments `.` and `..`.
_NO_PATH = re.compile(r"^/|/$|(?<=/)/|(?:^|(?<=/))\.{1,2}(?=/|$)|\.\.|^[ ]|[ ]$")
_ESCAPED = re.compile(r":([0-9a-f]+):")


def to_mlflow(name: str) -> tuple[str, dict[str, str]]:
    """The name to use, and the tags to set beside it (none unless it had to be cut)."""
    escaped = _REFUSED.sub(_hex, name) or EMPTY
    escaped = _NO_PATH.sub(lambda found: "".join(f":{ord(c):x}:" for c in found[0]), escaped)
    if len(escaped) <= LONGEST:
        return escaped, {}
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return escaped[: LONGEST - 18].rstrip("/. ") + f":x{digest}", {NAME_TAG + digest: name}


def from_mlflow(name: str, tags: Mapping[str, str]) -> str:
    cut = tags.get(NAME_TAG + name[-16:])
    if cut is not None and name[-18:-16] == ":x":
        return cut
    return "" if name == EMPTY else _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def _hex(found: re.Match[str]) -> str:
    return f":{ord(found[0]):x}:"


# MLflow's limits for one call, and for one value.
_PARAMS, _METRICS, _PARAM_LENGTH, _TAG_LENGTH = 100, 500, 6000, 8000
# A series longer than this is thinned out evenly; all of it is in result.json.
_POINTS = 5000
_GOES_ON = "… (all of it: result.json)"


class MlflowRun:
    """Parameters, metrics and tags of any name and size, put into one run within MLflow's limits."""

    def __init__(self, client: Any, run_id: str) -> None:
        self._client = client
        self._run_id = run_id

    def log(
        self,
        params: Mapping[str, Any] | None = None,
        metrics: Iterable[Metric] = (),
        tags: Mapping[str, str] | None = None,
        values: Mapping[str, float] | None = None,
        at_ms: int = 0,
    ) -> None:
        from mlflow.entities import Metric as Point
        from mlflow.entities import Param, RunTag

        points: list[Any] = []
        labels: dict[str, str] = {}
        for name, value in (values or {}).items():
            points.append(Point(name, float(value), at_ms, 0))
        for metric in metrics:
            name, more = to_mlflow(metric.name)
            labels |= more
            number = float(metric.value) if isinstance(metric.value, bool | int | float) else None
            if number is None or math.isinf(number):
                # MLflow would store an infinity as the largest number there is.
                labels[to_mlflow(f"assay.value.{metric.name}")[0]] = str(metric.value)
            else:
                points.append(Point(name, number, at_ms, 0))
            if metric.unit:
                labels[to_mlflow(f"assay.unit.{metric.name}")[0]] = metric.unit
            series, more = to_mlflow(f"samples/{metric.name}")
            labels |= more if metric.samples else {}
            stride = max(1, math.ceil(len(metric.samples) / _POINTS))
            points += [
                Point(series, sample, at_ms, step)
                for step, sample in islice(enumerate(metric.samples), 0, None, stride)
                if not math.isinf(sample)
            ]
        given = []
        for name, value in (params or {}).items():
            shown, more = to_mlflow(str(name))
            labels |= more
            given.append(Param(shown, _cut(str(value), _PARAM_LENGTH)))
        labels |= tags or {}
        marks = [RunTag(name, _cut(value, _TAG_LENGTH)) for name, value in labels.items()]
        self._send(points, given, marks)

    def _send(self, points: list[Any], params: list[Any], tags: list[Any]) -> None:
        while points or params or tags:
            self._client.log_batch(
                self._run_id, metrics=points[:_METRICS], params=params[:_PARAMS], tags=tags[:_PARAMS]
            )
            points, params, tags = points[_METRICS:], params[_PARAMS:], tags[_PARAMS:]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - len(_GOES_ON)] + _GOES_ON


KEY_TAG = "assay.key"


class MlflowSink(Sink):
    """A parent run for the session, a child for each run. Everything is written with the run's own times, so that
    delivering it again changes nothing."""

    summary = "MLflow: a parent run for the session, a child for each run, on a server or a local sqlite file"
    keys = (
        Key("tracking_uri", "a server (http://…) or sqlite:///file (default: MLFLOW_TRACKING_URI)"),
        Key("experiment", "name of the experiment; made if it is not there (default: assay)"),
        Key("artifacts", "false: no files, only parameters, metrics and tags (default: true)"),
        Key("max_artifact_mb", "larger files are left out (default: 50)"),
    )
    delivery_timeout_s = 120.0

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        uri = config.get("tracking_uri") or os.environ.get("MLFLOW_TRACKING_URI")
        if not uri:
            return ["tracking_uri: sink mlflow needs it, or MLFLOW_TRACKING_URI in the environment"]
        if str(uri).startswith(("file:", "/", ".")):
            return [f"tracking_uri: MLflow keeps no plain files any more; use sqlite:///{uri}/mlflow.db"]
        return []

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self._connect()
        info = self.context.info
        started = info.started_at if info else ""
        self._experiment = self._experiment_id()
        key = _digest(f"{session_name} {started}")
        tags = {"assay.session": session_name, "assay.reason": (info.reason if info else None) or ""}
        self._parent = self._run(key, session_name, tags, started)
        self._show(self._parent, "MLflow session")
        if "environment is there" not in self.context.memory:
            run = MlflowRun(self._client, self._parent)
            run.log(params=_flat(env_data), tags={"assay.host": str(env_data.get("host", ""))})
            self._upload(self._parent, [self.context.folder / ENVIRONMENT_FILE, *self._snapshots()])
            self.context.memory["environment is there"] = True

    def process_result(self, result: dict[str, Any]) -> None:
        try:
            self._log(result)
        except Exception as error:
            raise _translate_error(error) from error

    def _log(self, result: dict[str, Any]) -> None:
        record = Record.from_json(result)
        tags = {
            "mlflow.parentRunId": self._parent,
            "assay.run_id": record.run_id,
            "assay.entry": record.name,
            "assay.outcome": str(record.outcome),
            "assay.reasons": "; ".join(record.reasons),
            "assay.repeat": str(record.repeat),
            "assay.git_commit": record.git_commit or "",
        }
        name = record.name if record.repeat == 1 else f"{record.name} run {record.repeat}"
        run_id = self._run(_digest(record.run_id), name, tags, record.started_at)
        self._show(run_id, f"MLflow {name}")
        ended = _milliseconds(record.started_at) + round(record.exec_time_s * 1000)
        MlflowRun(self._client, run_id).log(
            params=dict(record.script_params), metrics=tuple(record.metrics.values()), at_ms=ended
        )
        if self.config.get("artifacts", True):
            self._client.log_text(run_id, encode(result, indent=2), "result.json")
            self._upload(run_id, self._files(record))
        self._client.set_terminated(run_id, _status(record.outcome), end_time=ended)

    def finalize(self) -> None:
        records = passed = 0
        for record in self.context.records():
            records += 1
            passed += record.success
        closing = self.context.closing
        ended = _milliseconds((closing.info.finished_at if closing else None) or "")
        run = MlflowRun(self._client, self._parent)
        run.log(values={"runs": records, "runs_passed": passed, "runs_failed": records - passed}, at_ms=ended)
        if closing and closing.changes:
            run.log(tags={"assay.changes": closing.changes})
        folder = self.context.folder
        self._upload(self._parent, [folder / SESSION_FILE, folder / REPORT_FILE])
        status = "FINISHED" if passed == records else "FAILED"
        if closing and closing.info.status == "interrupted":
            status = "KILLED"
        self._client.set_terminated(self._parent, status, end_time=ended)

    def _connect(self) -> None:
        # Our own outbox tries again; the client's minutes of retries would only keep other messages waiting.
        os.environ.update(
            MLFLOW_HTTP_REQUEST_MAX_RETRIES="0",
            MLFLOW_HTTP_REQUEST_TIMEOUT="30",
            MLFLOW_DISABLE_TELEMETRY="true",
            MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT="true",
        )
        try:
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise MissingExtra("MLflow", "mlflow") from None
        self._uri = str(self.config.get("tracking_uri") or os.environ.get("MLFLOW_TRACKING_URI") or "")
        if not self._uri:
            raise Unavailable("tracking_uri is not set, nor is MLFLOW_TRACKING_URI")
        self._client = MlflowClient(tracking_uri=self._uri)

    def _experiment_id(self) -> str:
        name = str(self.config.get("experiment") or "assay")
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        try:
            return str(self._client.create_experiment(name, artifact_location=_beside_database(self._uri)))
        except Exception:
            # Another session may have made it in between.
            found = self._client.get_experiment_by_name(name)
            if found is None:
                raise
            return str(found.experiment_id)

    def _run(self, key: str, name: str, tags: dict[str, str], started_at: str) -> str:
        def look() -> str | None:
            found = self._client.search_runs([self._experiment], f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
            return str(found[0].info.run_id) if found else None

        def create() -> str:
            shown = {KEY_TAG: key, **{tag: value[:8000] for tag, value in tags.items() if value}}
            made = self._client.create_run(
                self._experiment, start_time=_milliseconds(started_at), tags=shown, run_name=name[:250]
            )
            return str(made.info.run_id)

        return once(self.context.memory, key, look, create)

    def _upload(self, run_id: str, files: list[Path]) -> None:
        limit = float(self.config.get("max_artifact_mb", 50)) * 1e6
        if self.config.get("artifacts", True):
            for path in files:
                if path.is_file() and path.stat().st_size <= limit:
                    self._client.log_artifact(run_id, str(path))

    def _snapshots(self) -> list[Path]:
        return sorted((self.context.folder / "artifacts").glob("*"))

    def _files(self, record: Record) -> list[Path]:
        named = [name for name in (record.stdouterr_file, *record.files.values()) if name]
        return [self.context.folder / name for name in named]

    def _show(self, run_id: str, what: str) -> None:
        if self._uri.startswith("http"):
            address = f"{self._uri.rstrip('/')}/#/experiments/{self._experiment}/runs/{run_id}"
            self.context.announce(what, address)


def _status(outcome: Outcome) -> str:
    if outcome is Outcome.PASSED:
        return "FINISHED"
    return "KILLED" if outcome is Outcome.INTERRUPTED else "FAILED"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _milliseconds(when: str) -> int:
    try:
        return round(datetime.fromisoformat(when).timestamp() * 1000)
    except ValueError:
        return 0


def _beside_database(uri: str) -> str | None:
    """Where artifacts go with a local database: beside it. MLflow would put them under whatever folder the process is
    in."""
    if not uri.startswith("sqlite:///"):
        return None
    return (Path(uri.removeprefix("sqlite:///")).resolve().parent / "mlflow-artifacts").as_uri()


def _translate_error(error: Exception) -> Exception:
    # What does not exist any more was deleted by somebody, who will not want it back.
    never = ("INVALID_PARAMETER_VALUE", "BAD_REQUEST", "RESOURCE_DOES_NOT_EXIST")
    refused = getattr(error, "error_code", "") in never
    return Rejected(str(error)) if refused else error


def _flat(env_data: dict[str, Any]) -> dict[str, Any]:
    return dict(_pairs(env_data, ""))


def _pairs(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The environment as flat pairs, without the packages: they are a file's worth, and are in a file."""
    for key, item in value.items():
        if isinstance(item, dict):
            if key != "packages":
                yield from _pairs(item, f"{name}{key}.")
        else:
            yield f"{name}{key}", item
