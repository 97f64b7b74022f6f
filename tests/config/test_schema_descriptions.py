"""What an editor, `assay schema` and the reference say of every key: what it is, and an example that is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from assay.config.base_model import Limits
from assay.config.entry_config import EntryConfig, MetricConfig, RayConfig, Requirement
from assay.config.paths import NamedPath
from assay.config.service_config import ReadyConfig, ServiceConfig, ServiceMetricsConfig
from assay.config.session_config import DatasetConfig, DatasetFormat, GpuStatsRecorder, SessionConfig, session_schema

SMALLEST: dict[type[BaseModel], dict[str, Any]] = {
    DatasetConfig: {"name": "cc", "formats": [{"type": "parquet", "path": "/data"}]},
    DatasetFormat: {"type": "parquet", "path": "/data"},
    EntryConfig: {"name": "sort", "command": "true"},
    GpuStatsRecorder: {},
    Limits: {},
    MetricConfig: {},
    NamedPath: {"name": "models", "host_path": "/data"},
    RayConfig: {},
    ReadyConfig: {},
    Requirement: {"metric": "rows_per_s", "min_value": 0},
    ServiceConfig: {},
    ServiceMetricsConfig: {},
    SessionConfig: {},
}
"""What each mapping of a session file cannot be without."""
EXAMPLES = [
    pytest.param(model, key, example, id=f"{model.__name__}.{key}")
    for model in SMALLEST
    for key, field in model.model_fields.items()
    for example in field.examples or ()
]


def definitions() -> dict[str, dict[str, Any]]:
    schema = session_schema()
    return {"SessionConfig": schema, **schema["$defs"]}


def test_every_mapping_of_the_schema_is_tried_here() -> None:
    named = {name for name, definition in definitions().items() if "properties" in definition}
    assert named == {model.__name__ for model in SMALLEST}


def test_every_key_has_a_description_and_an_example() -> None:
    keys = {
        f"{name}.{key}": said for name, one in definitions().items() for key, said in one.get("properties", {}).items()
    }
    assert len(keys) > 100
    assert [key for key, said in keys.items() if not said.get("description", "").endswith(".")] == []
    assert [key for key, said in keys.items() if not said.get("examples")] == []


@pytest.mark.parametrize(("model", "key", "example"), EXAMPLES)
def test_an_example_is_accepted(model: type[BaseModel], key: str, example: Any) -> None:
    base = dict(SMALLEST[model])
    if model is EntryConfig and key == "script":
        del base["command"]
    made = model.model_validate({**base, key: example})
    assert key in made.model_fields_set
