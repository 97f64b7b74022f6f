"""The keys of pydantic models that read a user's YAML: type, default, what it is, an example."""

from __future__ import annotations

import ast
import inspect
import json
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "anything"}


@dataclass(frozen=True)
class YamlKey:
    name: str
    type: str
    default: str
    description: str
    example: str


def models(top: type[BaseModel]) -> list[type[BaseModel]]:
    """`top` and all that it is made of, each once, in the order a reader meets them."""
    found = [top]
    for model in found:
        for field in model.model_fields.values():
            found += [one for one in _models_in(field.annotation) if one not in found]
    return found


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def keys(model: type[BaseModel]) -> list[YamlKey]:
    said = attribute_docstrings(model)
    return [
        YamlKey(name, _type(field), _default(field), field.description or said.get(name, ""), _example(field))
        for name, field in model.model_fields.items()
    ]


@cache
def attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Texts that stand below the fields of a class and of those it inherits from."""
    found: dict[str, str] = {}
    for owner in reversed([base for base in model.__mro__ if issubclass(base, BaseModel) and base is not BaseModel]):
        body = ast.parse(inspect.getsource(owner)).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                    found[name] = inspect.cleandoc(said)
    return found


def _type(field: FieldInfo) -> str:
    bounds = [_bound(one) for one in field.metadata]
    return ", ".join([type_words(field.annotation), *filter(None, bounds)])


BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def _bound(constraint: Any) -> str:
    """`ge=0` of a field as words; what says nothing of a number is left out."""
    words = [f"{word} {value}" for key, word in BOUNDS.items() if (value := getattr(constraint, key, None)) is not None]
    if least := getattr(constraint, "min_length", None):
        words.append(f"at least {least} of them")
    return ", ".join(words)


def type_words(annotation: Any) -> str:
    if annotation in WORDS:
        return WORDS[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        words = [type_words(inner[0]), *filter(None, map(_bound, _flat(inner[1:])))]
        return ", ".join(words)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_words(one) for one in inner if one is not types.NoneType))
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in inner)
    if origin is dict:
        return f"mapping of {type_words(inner[1])}"
    if origin in (list, tuple):
        return f"list of {type_words(inner[0])}"
    return f"[{annotation.__name__}](#{annotation.__name__.lower()})"


def _flat(constraints: tuple[Any, ...]) -> Iterator[Any]:
    for one in constraints:
        yield from one.metadata if isinstance(one, FieldInfo) else (one,)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value in ({}, [], (), ""):
        return "–"
    if isinstance(value, BaseModel):
        return "–"
    return f"`{_yaml(value)}`"


def _example(field: FieldInfo) -> str:
    return f"{_yaml(field.examples[0])}" if field.examples else ""


def _yaml(value: Any) -> str:
    """The value on one line, as YAML takes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_inside(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inside, value)) + "]"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)


def _inside(value: Any) -> str:
    """Within brackets, text with a comma, a colon or a brace needs quotes."""
    text = _yaml(value)
    return json.dumps(text) if isinstance(value, str) and set(text) & set(",:{}[]#&*!|>'\"%@`") else text
