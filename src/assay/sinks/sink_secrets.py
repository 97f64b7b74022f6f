"""Keeps secrets in memory and out of everything that is written. On disk a secret is `${NAME}`, the environment
variable it came from; one that stood in a file in clear is asked for by the name ASSAY_SINK_<SINK>_<KEY>."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from assay.record.secret_shapes import find_shapes, is_searchable
from assay.record.secrets import SHORTEST, Masker, is_secret
from assay.sinks.registry import find_built_in_class
from assay.sinks.sink import SinkSpec

_POINTS_ELSEWHERE = re.compile(r"_(file|path|env|id)$", re.IGNORECASE)
_HEADERS = ("authorization", "auth", "key")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_STRUCTURE = frozenset({"run_id", "name", "session", "outcome", "started_at"})


def _holds_secret(name: str, value: str) -> bool:
    return (is_secret(name, value) or name.lower() in _HEADERS) and not _POINTS_ELSEWHERE.search(name)


class Secrets:
    """What must be masked, learnt from the sinks' configuration and the environment."""

    def __init__(self, specs: Iterable[SinkSpec], environ: Mapping[str, str] = os.environ) -> None:
        self._environ = {
            name: value
            for name, value in environ.items()
            if _holds_secret(name, value) and is_searchable(value, SHORTEST)
        }
        found: set[str] = set(self._environ.values())
        for spec in specs:
            for path, value in _strings(spec.own):
                if self._is_secret(spec, path, value):
                    found |= _pieces(value)
                elif path[-1].endswith("_env") and value in environ:
                    found |= _pieces(environ[value])
        self._masker = Masker({}, (("", value) for value in found))

    def mask_body(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A message's body, but for the fields that say which run it is and how it ended."""
        return {key: value if key in _STRUCTURE else self._masker.value(value) for key, value in body.items()}

    def mask(self, text: str) -> str:
        return self._masker.text(text)

    def with_references(self, spec: SinkSpec) -> dict[str, Any]:
        """The specification as it may be written to disk."""
        return {**spec.to_json(), **{key: self._reference(spec, (key,), value) for key, value in spec.own.items()}}

    def _reference(self, spec: SinkSpec, path: tuple[str, ...], value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._reference(spec, (*path, str(key)), item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._reference(spec, (*path, str(place)), item) for place, item in enumerate(value)]
        if not isinstance(value, str) or not value:
            return value
        for name, held in self._environ.items():
            if held in value:
                value = value.replace(held, f"${{{name}}}")
        if _REFERENCE.search(value) or not self._is_secret(spec, path, value):
            return value
        return f"${{{_own_variable(spec.name, path)}}}"

    def _is_secret(self, spec: SinkSpec, path: tuple[str, ...], value: str) -> bool:
        known = find_built_in_class(spec)
        declared = known is not None and any(key.secret and key.name == path[0] for key in known.keys)
        return bool(value) and (declared or any(_holds_secret(name, value) for name in path) or _has_secret(value))


def resolve(written: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> SinkSpec:
    """The specification read back from disk, its secrets taken from the environment."""
    missing: dict[str, None] = {}

    def put_back(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: put_back(item) for key, item in value.items()}
        if isinstance(value, list):
            return [put_back(item) for item in value]
        if not isinstance(value, str):
            return value
        names = _REFERENCE.findall(value)
        missing.update(dict.fromkeys(name for name in names if name not in environ))
        return _REFERENCE.sub(lambda found: environ.get(found[1], found[0]), value)

    spec = SinkSpec.parse(put_back(dict(written)))
    return replace(spec, missing=tuple(missing))


def _own_variable(sink: str, path: tuple[str, ...]) -> str:
    return re.sub(r"\W", "_", "_".join(("ASSAY_SINK", sink, *path))).upper()


def _strings(value: Any, path: tuple[str, ...] = ()) -> Iterable[tuple[tuple[str, ...], str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _strings(item, (*path, str(place)))
    elif isinstance(value, str):
        yield path, value


def _pieces(value: str) -> set[str]:
    """Libraries quote an address in parts: the path alone, or without its scheme."""
    pieces = {value}
    try:
        address = urlsplit(value)
    except ValueError:
        return pieces
    if address.scheme and address.netloc:
        pieces |= {address.path, address.path.rpartition("/")[2], address.password or "", address.query}
    return {piece for piece in pieces if len(piece) >= SHORTEST}


def _has_secret(value: str) -> bool:
    return any(True for _ in find_shapes(value))
