from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.names import quote, unknown
from assay.sinks.key import COMMON_KEYS
from assay.sinks.registry import BUILT_IN, find_built_in_class, list_registered
from assay.sinks.spec import SinkSpec

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*)?")


def check_spec(written: Mapping[str, Any]) -> list[str]:
    """Problems that keep a plan from beginning, in words without the sink's place in the file. None for a disabled
    sink. Of a user's own sink only the name or path is looked at: `try_sink` makes one, which checks its keys."""
    if written.get("enabled", True) is False:
        return []
    if not isinstance(written.get("enabled", True), bool):
        return ["enabled: must be true or false"]
    timeout = written.get("delivery_timeout_s")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
        return ["delivery_timeout_s: must be a number of seconds above 0"]
    spec = SinkSpec.parse(written)
    known = find_built_in_class(spec)
    if known is None:
        return _own_sink(spec)
    keys = {key.name: key for key in (*COMMON_KEYS, *known.keys)}
    of = f"sink {quote(spec.name)}"
    problems = [f"{key}: {unknown('key', key, sorted(keys), of)}" for key in written if key not in keys]
    problems += [
        f"{key.name}: sink {spec.name} needs it ({key.help})"
        for key in known.keys
        if key.required and written.get(key.name) in (None, "")
    ]
    return problems or known.problems(dict(spec.own))


def check_sink_data(written: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    """What is wrong with what an entry says to a sink."""
    spec = SinkSpec.parse(written)
    known = find_built_in_class(spec)
    if known is None or known.entry_keys is None:
        return []
    of = f"sink_data of sink {quote(spec.name)}"
    return [unknown("key", key, known.entry_keys, of) for key in said if key not in known.entry_keys]


def _own_sink(spec: SinkSpec) -> list[str]:
    names = [*BUILT_IN, *(point.name for point in list_registered())]
    if spec.class_path is not None:
        if spec.class_path in names or _DOTTED.fullmatch(spec.class_path):
            return []
        return [f"class: {spec.class_path!r} is not a dotted path such as my_package.sinks:MySink"]
    if spec.name in names:
        return []
    beside = f"one of your own is a module beside the configuration ({spec.name}_sink.py) or has `class:`"
    return [f"name: {unknown('sink', spec.name, sorted(names))}; {beside}"]
