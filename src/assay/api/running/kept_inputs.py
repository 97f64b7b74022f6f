"""What a session was started with, read back. Secrets are not kept: each is `***NAME***` there, and asked for again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.api.running.run_inputs import RunInputs
from assay.errors import DataError, UsageError
from assay.record import SessionInfo

_MASKED = re.compile(r"\*\*\*([A-Za-z_][A-Za-z0-9_]*)\*\*\*")


def restore_inputs(info: SessionInfo, environment: Mapping[str, str]) -> RunInputs:
    """Inputs of a session with every secret as the environment has it now. Refused while one is missing: what would run
    with the masked text is not what was asked for."""
    missing: dict[str, str] = {}

    def put_back(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: put_back(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [put_back(item) for item in value]
        if not isinstance(value, str):
            return value
        for name in _MASKED.findall(value):
            if name not in environment:
                missing.setdefault(name, value)
        return _MASKED.sub(lambda found: environment.get(found[1], found[0]), value)

    inputs = put_back(info.plan)
    if missing:
        said = "; ".join(f"set {name} (in {value!r})" for name, value in missing.items())
        raise UsageError(
            f"session {info.name} was started with secrets, which are not kept on disk: give them again as environment "
            f"variables: {said}"
        )
    try:
        return RunInputs.from_json(inputs)
    except DataError as error:
        raise DataError(f"session {info.name} cannot be run again: in its session.json {error}") from None
