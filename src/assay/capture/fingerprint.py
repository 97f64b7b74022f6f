from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.record import Fingerprint
from assay.record.surroundings.fingerprint import digest

VERSION = "workload_version"
"""Key in params.json by which a program says itself when its work has changed."""


def fingerprint(
    entry: str,
    args: Sequence[str],
    settings: Mapping[str, Any],
    params: Mapping[str, Any],
    script: Path | None,
    machine_class: str,
    folders: Sequence[str],
) -> Fingerprint:
    """`args` still hold their placeholders, and params that name a folder of this run are left out."""
    lasting = {
        name: value
        for name, value in params.items()
        if name != VERSION and not any(folder in str(value) for folder in folders)
    }
    return Fingerprint(
        entry=entry,
        params=digest({"args": list(args), "settings": settings, "params": lasting}),
        workload=_workload(params, script, args),
        machine=machine_class,
    )


def _workload(params: Mapping[str, Any], script: Path | None, args: Sequence[str]) -> str:
    if VERSION in params:
        return f"version {params[VERSION]}"
    if script is None:
        return f"command {digest(list(args))}"
    try:
        return f"script {hashlib.sha256(script.read_bytes()).hexdigest()[:12]}"
    except OSError:
        return "script unreadable"
