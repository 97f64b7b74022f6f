from __future__ import annotations

from typing import Any

from assay.config.session_config import SessionConfig

_MATRIX = {
    "type": "object",
    "description": "A grid that expands to one entry a combination; {key} stands for its value anywhere in the entry.",
    "examples": [{"executor": ["local", "ray_data"], "workers": [1, 4]}],
    "properties": {"exclude": {"type": "array", "items": {"type": "object"}}},
    "additionalProperties": {"type": "array", "minItems": 1},
}

_SAID = ("description", "default", "examples", "title")
"""What a schema says of a key, whatever its type."""


def session_schema() -> dict[str, Any]:
    """JSON Schema of a session YAML, before variables are put in: any value may also be a string with `${VAR}`."""
    schema = SessionConfig.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Assay session"
    schema["$defs"]["EntryConfig"]["properties"]["matrix"] = _MATRIX
    for definition in (schema, *schema["$defs"].values()):
        if definition.get("type") == "object" and "properties" in definition:
            definition["patternProperties"] = {"^x-": {}}
            _allow_variables(definition["properties"])
    return schema


def _allow_variables(properties: dict[str, Any]) -> None:
    variable = {"type": "string", "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*(:[-+][^}]*)?\}"}
    for name, definition in properties.items():
        if definition.get("type") in ("number", "integer", "boolean"):
            described = {key: definition.pop(key) for key in _SAID if key in definition}
            properties[name] = {**described, "anyOf": [definition, variable]}
