"""`pytest --benchmark-json`: times of every round if `--benchmark-save-data` was given, otherwise only the median."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from assay.history.importers.foreign import ForeignSession, MalformedForeign, Timed, cores, mapping, seconds, text, utc
from assay.record import Environment


def is_one(written: Mapping[str, Any]) -> bool:
    return "machine_info" in written and isinstance(written.get("benchmarks"), list)


def read(written: Mapping[str, Any], name: str, changed: str) -> ForeignSession:
    machine, commit = mapping(written["machine_info"]), mapping(written.get("commit_info"))
    cpu = mapping(machine.get("cpu"))
    environment = Environment(
        host=text(machine.get("node")),
        os=text(machine.get("system")),
        kernel=text(machine.get("release")),
        cpu_model=text(cpu.get("brand_raw") or cpu.get("brand") or machine.get("processor")),
        cores=cores(cpu.get("count")),
        python=text(machine.get("python_version")),
        git_commit=_commit(commit.get("id")),
        git_branch=text(commit.get("branch")) or None,
        git_dirty=commit["dirty"] if isinstance(commit.get("dirty"), bool) else None,
    )
    at = utc(written.get("datetime"), changed)
    return ForeignSession.build(name, "pytest-benchmark", environment, _read_benchmarks(written["benchmarks"], at))


def _commit(written: Any) -> str | None:
    """Outside a repository the tool writes a word instead."""
    return written if isinstance(written, str) and re.fullmatch(r"[0-9a-f]{7,64}", written) else None


def _read_benchmarks(benchmarks: list[Any], at: str) -> Iterator[Timed]:
    for number, benchmark in enumerate(benchmarks):
        where = f"benchmarks[{number}]"
        if not isinstance(benchmark, Mapping) or not isinstance(benchmark.get("stats"), Mapping):
            raise MalformedForeign(f"{where} has no stats")
        stats = benchmark["stats"]
        data = stats.get("data")
        times = (
            seconds(data, f"{where}.stats.data") if data else seconds([stats.get("median")], f"{where}.stats.median")
        )
        yield Timed(
            name=text(benchmark.get("fullname") or benchmark.get("name") or f"benchmark {number}"),
            seconds=times,
            started_at=at,
            params=mapping(benchmark.get("params")),
            extra={f"extra.{key}": value for key, value in mapping(benchmark.get("extra_info")).items()},
        )
