"""JSON that every reader accepts: NaN and infinities, which JSON has no words for, become `{"$float": "nan"}`.

Halves of surrogate pairs, which no file can hold, become U+FFFD: they come from paths and arguments that are no UTF-8.
"""

from __future__ import annotations

import json
import math
from typing import Any

from assay.untrusted.text_file import storable

_TAG = "$float"


def encode(value: Any, indent: int | None = None) -> str:
    return storable(json.dumps(_tag(value), indent=indent, ensure_ascii=False, allow_nan=False, default=_plain))


def decode(text: str | bytes) -> Any:
    """Decodes what nobody else could have changed; a file is read by `untrusted.json_text`, with `untag`."""
    return json.loads(text, object_hook=untag)


def _tag(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {_TAG: repr(value)}
    if isinstance(value, dict):
        return {str(key): _tag(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tag(item) for item in value]
    return value


def untag(value: dict[str, Any]) -> Any:
    if len(value) == 1 and value.get(_TAG) in ("nan", "inf", "-inf"):
        return float(value[_TAG])
    return value


def _plain(value: Any) -> Any:
    """What programs put into results without thinking of JSON: numpy scalars, paths, sets."""
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)
