from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, Field

from assay.document.node import Mark
from assay.document.validate import validate
from assay.document.yaml_file import parse_yaml
from assay.errors import ConfigError
from assay.names import Registry, UnknownComponent
from assay.pipeline.stage import Stage


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    timeout_s: float = Field(default=1, gt=0)


class Doc(BaseModel):
    model_config = ConfigDict(extra="forbid")
    items: list[Item]


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        validate(Doc, parse_yaml(text, "f.yaml"))
    return caught.value.problems


def test_values_know_where_they_stand() -> None:
    node = parse_yaml("a:\n  - b: 1\n", "f.yaml")
    assert node.plain() == {"a": [{"b": 1}]}
    assert node.at(("a", 0, "b")).mark == Mark("f.yaml", 2, 8)
    assert node.at(("a", 0, "b")).key == Mark("f.yaml", 2, 5)


def test_every_problem_is_reported_at_once_with_its_place() -> None:
    found = problems("items:\n  - name: x\n    timeout: 3\n  - timeout_s: -1\n")
    assert found == [
        "f.yaml:3:5: items[0].timeout: unknown key 'timeout'; did you mean 'timeout_s'? (known: name, timeout_s)",
        "f.yaml:4:5: items[1].name: is missing",
        "f.yaml:4:16: items[1].timeout_s: Input should be greater than 0, not -1",
    ]


def test_a_syntax_error_has_its_place() -> None:
    assert problems("items: [\n")[0].startswith("f.yaml:2:1: ")


def test_a_key_that_stands_twice_is_refused() -> None:
    assert problems("items: []\nitems: []\n") == ["f.yaml:2:1: items: stands here twice, first in line 1"]


def test_anchors_and_merge_keys_work_and_own_keys_win() -> None:
    node = parse_yaml("base: &b {x: 1, y: 2}\nitem:\n  <<: *b\n  y: 3\n", "f.yaml")
    assert node.plain()["item"] == {"x": 1, "y": 3}


def test_aliases_that_expand_without_end_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    assert "aliases expand to more than" in problems("\n".join(lines))[0]


def test_an_alias_that_contains_itself_is_refused() -> None:
    assert "contains itself" in problems("a: &a [*a]\n")[0]


def test_a_tag_that_would_build_an_object_is_refused() -> None:
    assert "is not allowed: only plain data" in problems("a: !!python/object/apply:os.system ['x']\n")[0]


def test_components_are_found_by_name_and_by_path_under_assay() -> None:
    registry: Registry[Stage] = Registry("stage", Stage, {"plain": "assay.pipeline.stage.Stage"})
    assert registry.find("plain") is Stage
    assert registry.find("pipeline.stage.Stage") is Stage
    with pytest.raises(UnknownComponent, match="did you mean 'plain'"):
        registry.find("plane")
    with pytest.raises(UnknownComponent, match="does not inherit from Stage"):
        registry.find("pathlib.Path")
