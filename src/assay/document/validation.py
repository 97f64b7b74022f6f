from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.document.sentences import wrong_value
from assay.document.yaml_node import KeyPath, Mark, YamlNode, path_text
from assay.errors import ConfigError
from assay.names import unknown

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], node: YamlNode) -> M:
    """`node` as `model`, or every problem at once, each with its place."""
    try:
        return model.model_validate(node.plain())
    except ValidationError as error:
        raise ConfigError(problems(error, node, model)) from None


def problems(error: ValidationError, node: YamlNode, model: type[BaseModel], at: KeyPath = ()) -> list[str]:
    """Problems in the order they stand in the files. What is used at several places (an anchor, a default for all
    entries) and is wrong there in one way is said once, for the shortest path."""
    found = [_problem(item, node, model, at) for item in error.errors(include_url=False)]
    first: dict[tuple[Mark, str], str] = {}
    for mark, path, message in sorted(found, key=lambda each: (each[0], len(each[1]), each[1], each[2])):
        first.setdefault((mark, message), path)
    return [f"{mark}: {path}: {message}" for (mark, message), path in first.items()]


def _problem(item: Any, root: YamlNode, model: type[BaseModel], at: KeyPath) -> tuple[Mark, str, str]:
    path = _find_steps(item["loc"], root)
    node = root.at(path)
    if item["type"] == "extra_forbidden":
        place = node.key or node.mark
        return place, path_text((*at, *path)), unknown("key", str(path[-1]), _keys(model, path[:-1]))
    message = wrong_value(item["type"], str(item["msg"]), _keys_needed(model, path))
    if item["type"] == "missing":
        name = str(item["loc"][-1])
        return node.mark, path_text((*at, *path, name)), "is missing"
    given = node.value
    if isinstance(given, str | int | float | bool) and item["type"] != "value_error":
        message = f"{message}, not {given!r}"
    return node.mark, path_text((*at, *path)), message


def _find_steps(loc: tuple[Any, ...], root: YamlNode) -> KeyPath:
    """pydantic puts names of union members between the steps; those are not in the file."""
    path: list[str | int] = []
    node = root
    for step in loc:
        child = node.at((step,))
        if child is node:
            continue
        path.append(step)
        node = child
    return tuple(path)


def _keys(model: type[BaseModel], path: KeyPath) -> list[str] | None:
    """None where the model does not tell."""
    found = _model(model, path)
    return sorted(field.alias or name for name, field in found.model_fields.items()) if found else None


def _model(model: type[BaseModel], path: KeyPath) -> type[BaseModel] | None:
    """The model of what stands at a place; None where that is not told."""
    current: Any = model
    for step in path:
        if isinstance(step, str) and isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(step)
            current = _inner(field.annotation) if field is not None else None
        elif not isinstance(step, int):
            current = None
        if current is None:
            return None
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _keys_needed(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Keys that a mapping at that place must have."""
    found = _model(model, path)
    return [field.alias or name for name, field in found.model_fields.items() if field.is_required()] if found else []


def _inner(annotation: Any) -> Any:
    """The model inside `list[Model]`, `Model | None` or `dict[str, Model]`."""
    if isinstance(annotation, type) and not getattr(annotation, "__args__", None):
        return annotation if issubclass(annotation, BaseModel) else None
    for argument in getattr(annotation, "__args__", ()):
        found = _inner(argument)
        if found is not None:
            return found
    return None
