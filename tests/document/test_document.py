from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, Field

from assay.document.validation import validate
from assay.document.yaml_file import parse_yaml
from assay.document.yaml_node import Mark
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
        "f.yaml:4:16: items[1].timeout_s: must be greater than 0, not -1",
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


ENDLESS = {
    "lists": ("a: " + "[" * 5000 + "]" * 5000, "nested deeper than 100 levels"),
    "open lists": ("[" * 100_000, "nested deeper than 100 levels"),
    "mappings": ("{a: " * 5000 + "1" + "}" * 5000, "nested deeper than 100 levels"),
    "dashes": ("- " * 5000 + "x", "nested deeper than 100 levels"),
    "indented": ("\n".join(" " * level + "a:" for level in range(3000)), "nested deeper than 100 levels"),
    "aliases": (
        "\n".join(["a0: &a0 [1]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 3000))]), "deeper than 100 levels",
    ),
    "merges": (
        "\n".join(["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: *a{n - 1}}}" for n in range(1, 3000)), "<<: *a2999"]),
        "more than 100 mappings",
    ),
    "itself": ("a: &a {<<: *a}", "more than 100 mappings"),
    "no mapping": ("a: {<<: 3}", "takes a mapping"),
    "no date": ("a: 2026-13-45", "'2026-13-45' cannot be read as timestamp"),
    "no time": ("a: !!timestamp x", "'x' cannot be read as timestamp"),
    "no truth": ("a: !!bool x", "'x' cannot be read as bool"),
    "digits": ("a: " + "9" * 5000, "cannot be read as int"),
    "bits": ("a: 0x" + "f" * 90_000, "more than 1024 bits"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), ENDLESS.values(), ids=ENDLESS)
def test_yaml_without_end_or_sense_is_one_message_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        parse_yaml(text, "bench.yaml")
    assert str(refused.value).startswith("bench.yaml:")


def test_mappings_merged_many_times_over_stay_small() -> None:
    twice = "\n".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], n: {n}}}" for n in range(1, 60))
    merged = parse_yaml(f"a0: &a0 {{x: 1}}\n{twice}\n<<: *a59\nx: 2", "bench.yaml").plain()
    assert (merged["x"], merged["n"], merged["a59"]) == (2, 59, {"x": 1, "n": 59})
