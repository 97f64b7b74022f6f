from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.compat.user_code import advice
from assay.config.entry import Entry
from assay.errors import DataError
from assay.files.json_text import shorten
from assay.files.reading import LOG, Unreadable, last_lines
from assay.process.spec import ProcessResult, unended_warnings
from assay.record import Environment, Outcome, Record, TaskPerf, Usage
from assay.record.metric import Metric, apart, together
from assay.record.secrets import Masker
from assay.session.capture_environment import fingerprint, script_digest
from assay.session.results.program_results import ProgramResults, results_of
from assay.session.results.requirements import check
from assay.session.service.scraped_metrics import with_service_metrics
from assay.session.workspace import free_mb

if TYPE_CHECKING:
    from assay.session.execution import Execution


_LOOKED_AT = 1 << 15
_LONGEST = 400
_TRACEBACK = "Traceback (most recent call last):"


def last_words(log: Path, lines: int = 1) -> list[str]:
    """The last lines of a log that say something; where it ends with a traceback, what follows its frames.

    That is the exception's own message, which may have several lines and say what matters in the first.
    """
    try:
        found = last_lines(log, LOG, _LOOKED_AT)
    except (FileNotFoundError, Unreadable):
        return []
    said = _after_traceback(found) or [line for line in found if line.strip()][-lines:]
    plain = ["".join(letter for letter in line.strip() if letter.isprintable()) for line in said]
    return [shorten(line, _LONGEST) for line in plain if line]


def _after_traceback(lines: list[str]) -> list[str]:
    begun = max((at for at, line in enumerate(lines) if line.strip() == _TRACEBACK), default=None)
    if begun is None:
        return []
    frames = 1 + begun
    while frames < len(lines) and (not lines[frames].strip() or lines[frames][0].isspace()):
        frames += 1
    return lines[frames:]


FULL_MB = 0.5
LONGEST_REASON = 500
LINES_OF_LOG = 5
_SCRIPTS = (".py", ".sh", ".js", ".rb", ".pl", ".R", ".jl")


def judge(
    execution: Execution,
    result: ProcessResult,
    started_at: str,
    session: str,
    environment: Environment,
) -> Record:
    """What a run is, from how its process ended and what it wrote; what goes wrong with that is its outcome too."""
    try:
        results = ProgramResults()
        if not result.failure:
            results = results_of(execution.results, execution.run.entry.keeps_contract)
            results = with_service_metrics(results, execution.served)
        return _judge_results(execution, result, results, started_at, session, environment)
    except Exception as error:  # noqa: BLE001  what a program wrote never ends the session, whatever we overlooked
        why = shorten(f"{type(error).__name__}: {error}", LONGEST_REASON)
        results = ProgramResults(problems=[f"what it wrote could not be judged: {why}"])
        return _judge_results(execution, result, results, started_at, session, environment)


def _judge_results(
    execution: Execution,
    result: ProcessResult,
    results: ProgramResults,
    started_at: str,
    session: str,
    environment: Environment,
) -> Record:
    run, entry = execution.run, execution.run.entry
    outcome, reasons = _outcome(execution, result, results)
    if execution.cleanup_problem and outcome is not Outcome.INTERRUPTED:
        outcome = Outcome.FAILED if outcome is Outcome.PASSED else outcome
        reasons = [*reasons, execution.cleanup_problem]
    metrics, details = _declare(results, entry)
    record = Record(
        name=entry.name,
        session=session,
        run_id=execution.run_id,
        outcome=outcome,
        started_at=started_at,
        fingerprint=_fingerprint(execution, results.params, environment),
        exec_time_s=result.exec_time_s,
        returncode=result.returncode,
        command=execution.command,
        stdouterr_file=str(execution.workspace.combined),
        script_params={**entry.parameters, **results.params},
        script_metrics=metrics,
        metrics_detail=details,
        tasks=tuple(results.tasks),
        reasons=tuple(reasons),
        warnings=(*execution.warnings, *_warnings(result, results)),
        usage=_usage(execution, result),
        repeat=run.number,
        attempt=run.attempt,
        warmup=run.kind == "warmup",
        files=_files(execution),
        git_commit=environment.git_commit,
        reason=environment.reason,
        sink_data=entry.sink_data,
        canary=entry.canary,
        environment=execution.python.environment if execution.python else None,
        host=environment.host,
        script=script_digest(_script(execution)),
        margins={name: rule.margin for name, rule in entry.metrics.items() if rule.margin is not None},
        unjudged=tuple(name for name, rule in entry.metrics.items() if not rule.judged),
    )
    return _mask(_with_requirements(record, entry), execution)


def _outcome(execution: Execution, result: ProcessResult, results: ProgramResults) -> tuple[Outcome, list[str]]:
    if execution.interrupted:
        return Outcome.INTERRUPTED, ["interrupted by the user"]
    if execution.served is not None and execution.served.problem:
        return Outcome.FAILED, [execution.served.problem, *execution.served.lines]
    if result.failure:
        return Outcome.NOT_STARTED, [result.failure, *_log_of_failure(result)]
    entry = execution.run.entry
    disk = _disk_reasons(execution, result)
    if result.ended_because == "timeout":
        return Outcome.TIMEOUT, [f"ran longer than its limit of {entry.timeout_s:g} s", *_tell_unseen(result), *disk]
    if result.ended_because == "memory":
        return Outcome.FAILED, [f"used more memory than its limit of {entry.limits.memory:g} MB", *disk]
    if result.unseen:
        return Outcome.FAILED, [*_tell_unseen(result), *disk]
    code = result.returncode
    if code is None or result.ended_because:
        return Outcome.FAILED, [f"was ended: {result.ended_because or 'its end could not be seen'}", *disk]
    if code < 0:
        return Outcome.CRASHED, [f"was ended by signal {_signal_name(-code)}", *disk]
    if code > 0:
        last = shorten(" ".join(last_words(execution.workspace.stderr)), LONGEST_REASON)
        what = advice(last)
        said = "".join((f"exited with code {code}", f": {last}" if last else "", f"; {what}" if what else ""))
        return Outcome.FAILED, [said, *disk]
    if disk:
        return Outcome.FAILED, [*disk, *results.problems]
    if results.problems:
        return Outcome.INVALID, results.problems
    if "is_success" in results.metrics and Metric.parse("is_success", results.metrics["is_success"]).value is False:
        return Outcome.INVALID, ["exited with code 0, but its metric is_success is false"]
    return Outcome.PASSED, []


def _with_requirements(record: Record, entry: Entry) -> Record:
    """The record with its requirements checked. They decide only about a run that would otherwise pass."""
    if record.warmup or not (record.script_metrics or record.outcome is Outcome.PASSED):
        return record
    checked = tuple(check(requirement, record, entry.baseline) for requirement in entry.requirements)
    broken = [result.reason for result in checked if not result.ok]
    if record.outcome is Outcome.PASSED and broken:
        return replace(record, requirements=checked, outcome=Outcome.MISSED, reasons=tuple(broken))
    return replace(record, requirements=checked)


def _disk_reasons(execution: Execution, result: ProcessResult) -> list[str]:
    try:
        full = free_mb(execution.workspace.session) < FULL_MB
    except OSError as error:
        return [f"the folder of the session cannot be looked at any more: {error.strerror}"]
    if result.output_error:
        return [f"its output could not be kept: {result.output_error}"]
    return ["the disk with the results is full"] if full else []


def _tell_unseen(result: ProcessResult) -> list[str]:
    if not result.unseen:
        return []
    return [f"{result.unseen} while the program ran: how it would have ended is not known, and nothing was measured"]


def _warnings(result: ProcessResult, results: ProgramResults) -> list[str]:
    warnings = list(results.warnings)
    if result.left_behind:
        warnings.append(f"left {result.left_behind} process(es) running; they were ended")
    if result.stopped and not result.unseen:
        warnings.append("its supervisor process was stopped for a while: what was measured may be wrong")
    return [*warnings, *unended_warnings(result.immortal)]


def _usage(execution: Execution, result: ProcessResult) -> Usage:
    try:
        usage = Usage.from_json(dict(result.usage))
    except DataError:
        usage = Usage()  # a supervisor that a program got at may report anything; the run is judged all the same
    if execution.gpu is None:
        return usage
    return replace(
        usage, gpu_peak_memory_mb=execution.gpu.peak_memory_mb, gpu_mean_utilisation=execution.gpu.mean_utilisation
    )


def _declare(results: ProgramResults, entry: Entry) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and details of metrics, with what the configuration declares where the program does not; on `exact` the
    configuration has the last word."""
    metrics, details = dict(results.metrics), dict(results.metrics_detail)
    for name, rule in entry.metrics.items():
        if name in metrics:
            metric = Metric.parse(name, together(metrics, details)[name])
            exact = metric.exact if rule.exact is None else rule.exact
            metric = replace(metric, unit=metric.unit or rule.unit, better=metric.better or rule.better, exact=exact)
            details.pop(name, None)
            values, more = apart([metric])
            metrics.update(values)
            details.update(more)
    return metrics, details


def _fingerprint(execution: Execution, params: Mapping[str, Any], environment: Environment) -> Any:
    entry, workspace = execution.run.entry, execution.workspace
    settings: dict[str, Any] = {
        "env": dict(entry.env),
        "cpus": entry.limits.cpus,
        "ray": entry.ray.model_dump(exclude={"isolation", "start_timeout_s", "address"}) if entry.ray else None,
        "profiler": entry.profiler,
    }
    for name, words in (("prepare", entry.prepare), ("cleanup", entry.cleanup)):
        if words:
            settings[name] = list(words)
    if entry.service is not None:  # only then, so that records of earlier versions stay comparable
        settings["service"] = entry.service.settings
    folders: tuple[str, ...] = (str(workspace.session), str(workspace.large), str(execution.results))
    if execution.served is not None:  # a free port is another one in every run
        address = execution.served.running.address
        folders += address.passing
        params = {name: value for name, value in params.items() if str(value) != str(address.port)}
    args = (*entry.program[1:], *entry.args) if entry.script is None else entry.args
    return fingerprint(
        entry.name, args, settings, params, environment.machine_class, folders, entry.workload_version, entry.project
    )  # fmt: skip


def _script(execution: Execution) -> Path | None:
    """The entry's script; of a command the first word that names a file, after the program: `python bench.py`."""
    entry = execution.run.entry
    if entry.script is not None:
        return entry.script
    folder = entry.cwd or Path.cwd()
    words = (word for word in (*entry.program[1:], *entry.args) if not word.startswith("-") and "\0" not in word)
    files = (folder / word for word in words if Path(word).suffix in _SCRIPTS)
    return next((file for file in files if os.path.isfile(file)), None)


def _files(execution: Execution) -> dict[str, str]:
    workspace = execution.workspace
    files = {
        "stdouterr": workspace.combined,
        "usage": workspace.usage_csv,
        "gpu_stats": workspace.gpu_stats,
        "results": execution.results,
        "ray_startup": workspace.logs / "ray_startup.log",
        "service_usage": workspace.service_usage,
        "service_metrics": workspace.service_metrics,
    }
    if execution.served is not None:
        files["service_log"] = execution.served.running.log
    if execution.profile is not None:
        files["profile"] = execution.profile
    return {name: workspace.relative(path) for name, path in files.items() if path.exists()}


def _mask(record: Record, execution: Execution) -> Record:
    masker = execution.masker
    return replace(
        record,
        command=masker.text(record.command),
        script_params=masker.value(record.script_params),
        script_metrics=masker.value(record.script_metrics),
        metrics_detail=masker.value(record.metrics_detail),
        reasons=tuple(masker.text(reason) for reason in record.reasons),
        warnings=tuple(masker.text(warning) for warning in record.warnings),
        requirements=tuple(
            replace(
                result,
                metric=masker.text(result.metric),
                actual=masker.value(result.actual),
                reason=masker.text(result.reason),
            )
            for result in record.requirements
        ),
        tasks=tuple(_mask_task(task, masker) for task in record.tasks),
        sink_data=masker.value(record.sink_data),
        margins=masker.value(record.margins),
        unjudged=tuple(masker.text(name) for name in record.unjudged),
    )


def _mask_task(task: TaskPerf, masker: Masker) -> TaskPerf:
    return TaskPerf(masker.text(task.stage), masker.value(task.metrics), masker.text(task.invocation))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _log_of_failure(result: ProcessResult) -> list[str]:
    if not result.failure_log:
        return []
    log = Path(result.failure_log)
    return [f"{log.name}: {line}" for line in last_words(log, lines=3)[:LINES_OF_LOG]]
