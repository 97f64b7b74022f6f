from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from assay.benchmarks.weights.model_size import SIZES
from assay.errors import ConfigError
from assay.weights.dtype import ELEMENT_TYPES

_FLOATS = tuple(name for name, kind in ELEMENT_TYPES.items() if kind.exponent and kind.lanes == 1 and kind.bits > 8)


def checked(written: str | Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a profile from YAML text or a mapping; every problem at once, with its line where there is one."""
    lines: dict[str, int] = {}
    if isinstance(written, str):
        written, lines = _parse(written, where)
    problems: list[str] = []
    fields: dict[str, Any] = {}
    for key, value in written.items():
        place = f"{where}:{lines[key]}" if key in lines else where
        if key not in FIELDS:
            near = difflib.get_close_matches(str(key), FIELDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(FIELDS)}"
            problems.append(f"{place}: unknown key {key!r}; {hint}")
            continue
        try:
            fields[key] = FIELDS[key](value)
        except ValueError as error:
            problems.append(f"{place}: {key}: {error}")
    if problems:
        raise ConfigError(problems)
    return fields


def _parse(text: str, where: str) -> tuple[dict[str, Any], dict[str, int]]:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError([f"{where}{line}: not YAML: {getattr(error, 'problem', error)}"]) from None
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError([f"{where}: a profile is a mapping with keys such as {', '.join(FIELDS)}"])
    return {str(key): item for key, item in value.items()}, {k.value: k.start_mark.line + 1 for k, _ in node.value}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"give text, not {value!r}")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"give a whole number of at least 1, not {value!r}")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError(f"give seconds above 0, not {value!r}")
    return float(value)


def _names(known: tuple[str, ...] | None = None) -> Callable[[Any], tuple[str, ...]]:
    def convert(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not value or not all(isinstance(item, str) for item in value):
            raise ValueError(f"give a list of names, not {value!r}")
        for item in value:
            if known is not None and item.replace("_", "-") not in known and item not in known:
                near = difflib.get_close_matches(item, known, n=1)
                raise ValueError(f"no {item!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {known}"))
        return tuple(value)

    return convert


FIELDS: dict[str, Callable[[Any], Any]] = {
    "name": _text,
    "description": _text,
    "suites": _names(),
    "iterations": _whole,
    "models": _names(tuple(SIZES)),
    "timeout": _seconds,
    "budget_s": _seconds,
    "dtypes": _names(_FLOATS),
    "versions": _whole,
    "stores": _names(),
}
