from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.api.listeners.voice import Voice
from assay.api.running.run_inputs import RunInputs
from assay.api.running.session_run import run_new
from assay.api.tables.records import Records
from assay.config.entries.tag import check_tag
from assay.errors import UsageError
from assay.record.writing.strict_json import encode


def run(
    config: str | Path | Sequence[str | Path] | None = None,
    *,
    command: Sequence[str] | None = None,
    entries: str | None = None,
    set: Mapping[str, Any] | Sequence[str] = (),
    runs: int = 10,
    warmup: int = 0,
    timeout_s: float = 7200.0,
    name: str | None = None,
    reason: str | None = None,
    tags: Sequence[str] = (),
    results_dir: str | Path | None = None,
    quiet: bool = False,
) -> Records:
    """Runs a session from YAML, or a command several times, as `assay run` does; its records.

    `entries` selects ('alm and not slow*'); `set` changes values of the files, `{"entries.NAME.timeout_s": 60}` or
    `["entries.NAME.timeout_s=60"]`; `runs`, `warmup` and `timeout_s` are for a command; `tags` are
    what the session is found by. A run that fails is a record
    like any other: ask `.passed`. Interrupted, it raises KeyboardInterrupt once everything is on disk.
    """
    if (config is None) == (command is None):
        raise UsageError("assay.run takes a config file or a command: assay.run('assay.yaml'), assay.run(command=[…])")
    if isinstance(command, str):
        raise UsageError(f"command is a list of words, never run by a shell: {command.split()}")
    files = [config] if isinstance(config, str | Path) else config or ()
    inputs = RunInputs(
        config=tuple(str(Path(file).absolute()) for file in files),
        command=tuple(map(str, command or ())),
        entries=entries,
        set=_overrides(set),
        runs=runs,
        warmup=warmup,
        timeout_s=timeout_s,
        tags=_tags(tags),
        results_dir=str(Path(results_dir).absolute()) if results_dir is not None else None,
    )
    voice = Voice.SILENT if quiet else Voice.NORMAL
    ran = run_new(inputs, name=name, reason=reason, command=["python", *sys.argv], voice=voice)
    if ran.interrupted:
        raise KeyboardInterrupt
    return Records((record for record in ran.records if record.counts), ran.folder.path.absolute().parent)


def _tags(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise UsageError(f"tags takes a list: tags=[{given!r}]")
    try:
        return tuple(check_tag(tag) for tag in given)
    except ValueError as error:
        raise UsageError(f"tags: {error}") from None


def _overrides(given: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """JSON is YAML, so a value keeps its type; a string stays the string it is."""
    if isinstance(given, str):
        raise UsageError(f"set takes a mapping or a list: set=[{given!r}]")
    if isinstance(given, Mapping):
        return tuple(f"{key}={encode(value)}" for key, value in given.items())
    return tuple(given)
