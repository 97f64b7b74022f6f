from __future__ import annotations

import os
from pathlib import Path

from assay.errors import ConfigError, UsageError
from assay.names import list_names, unknown


def arguments_of(config: Path, entry: str | None, script: str, usual: str) -> list[str]:
    """The arguments an entry of a session YAML gives to a bundled program, for running it without the session.

    `usual` is the entry that is meant where several use the program and none is named. Sinks are not looked at: none
    will hear of it. Folders that a session would make are made under `results/` of the current folder.
    """
    from assay.config.plan import make_plan
    from assay.config.reading.load import load_config
    from assay.config.reading.placeholders import FOLDERS

    plan = make_plan(load_config([config], os.environ, ["sinks=[]"]), os.environ)
    using = {planned.name: planned for planned in plan.entries if planned.script and planned.script.name == script}
    if entry is None and len(using) > 1 and usual in using:
        entry = usual
    if not using:
        names = list_names(planned.name for planned in plan.entries)
        raise UsageError(f"{config}: none of its entries ({names}) uses {script}")
    if entry is None and len(using) != 1:
        raise UsageError(f"{config}: say which --entry: {len(using)} of them use {script} ({list_names(using)})")
    if entry is not None and entry not in using:
        raise UsageError(f"{config}: {unknown('entry', entry, using, of=f'those that use {script}')}")
    chosen = using[entry] if entry is not None else next(iter(using.values()))
    if chosen.problem:
        raise ConfigError([f"{chosen.where}: {chosen.name}: {chosen.problem}"])
    folder = Path("results").absolute() / chosen.name
    return chosen.arguments({name: str(folder) for name in (*FOLDERS, "benchmark_results_path")})
