from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field, field_validator

from assay.stages.pytorch.components import ComponentOptions, Options, component
from assay.stages.pytorch.device import dtype_name, library, torch_dtype


class Tail(Options):
    length: int = 1


class Dog(Options):
    name: str
    legs: int = Field(default=4, ge=0)
    tail: Tail | None = None

    @field_validator("name")
    @classmethod
    def _said(cls, given: str) -> str:
        if not given:
            raise ValueError("a dog has a name")
        return given


def test_options_are_what_was_written_and_cannot_be_changed() -> None:
    dog = Dog.read("dog", {"name": "Rex", "tail": {"length": 3}})
    assert (dog.name, dog.legs, dog.tail) == ("Rex", 4, Tail(length=3))
    with pytest.raises(ValueError, match="frozen"):
        dog.legs = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "dog.name is missing"),
        ({"name": "Rex", "leg": 3}, "dog: unknown key 'leg'; did you mean 'legs'? (known: name, legs, tail)"),
        ({"name": "Rex", "legs": -1}, "dog.legs: Input should be greater than or equal to 0, not -1"),
        ({"name": ""}, "dog.name: a dog has a name"),
        (
            {"name": "Rex", "tail": {"lenght": 2}},
            "dog.tail: unknown key 'lenght'; did you mean 'length'? (known: length)",
        ),
        ({"name": "Rex", "tail": 3}, "dog.tail: Input should be a valid dictionary or instance of Tail, not 3"),
        ("Rex", "dog must be a block of keys, not 'Rex'"),
        (
            {"legs": "four"},
            (
                "dog.name is missing; dog.legs: Input should be a valid integer, unable to parse string as an integer, "
                "not 'four'"
            ),
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_key(given: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Dog.read("dog", given)
    assert str(caught.value) == message


def test_keys_beside_a_component_are_its_arguments() -> None:
    options = ComponentOptions.read("optimizer", {"component": "torch.optim.SGD", "lr": 0.1})
    assert (options.component, options.arguments) == ("torch.optim.SGD", {"lr": 0.1})
    with pytest.raises(ValueError, match=r"optimizer\.component is missing"):
        ComponentOptions.read("optimizer", {"lr": 0.1})


@pytest.mark.parametrize("written", ["torch.bfloat16", "bfloat16"])
def test_number_types_with_and_without_torch_before_them(written: str) -> None:
    assert dtype_name(written) == "bfloat16"
    assert torch_dtype(written) is library("torch", "llm").bfloat16


def test_a_number_type_that_models_do_not_run_in_is_refused() -> None:
    with pytest.raises(ValueError) as caught:
        dtype_name("torch.float61")
    known = "known: float32, bfloat16, float16, float64"
    assert str(caught.value).startswith("dtype: unknown number type 'float61'; did you mean 'float")
    assert known in str(caught.value)


def test_a_component_is_what_its_path_leads_to() -> None:
    assert component("torch.optim.AdamW", "llm") is library("torch.optim", "llm").AdamW
    assert component("pathlib.Path", "llm").__name__ == "Path"


@pytest.mark.parametrize("path", ["torch.optim.AdamV", "torch.optin.AdamW", "nowhere.Thing", "Thing"])
def test_a_path_that_leads_nowhere_is_said(path: str) -> None:
    with pytest.raises(ValueError) as caught:
        component(path, "llm")
    assert str(caught.value) == f"nothing is at '{path}'"
