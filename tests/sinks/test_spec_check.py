from __future__ import annotations

from typing import Any

import pytest

from assay.sinks import check_spec


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        ({"name": "jsonl"}, []),
        ({"name": "jsonl", "pth": "x"}, ["pth: unknown key 'pth' of sink 'jsonl'; did you mean 'path'?"]),
        ({"name": "mlfow"}, ["name: unknown sink 'mlfow'; did you mean 'mlflow'?"]),
        ({"name": "anything", "enabled": False, "pth": 1}, []),
        ({"name": "mine", "class": "pkg.mod:Sink", "whatever": 1}, []),
        ({"name": "mine", "class": "not a path"}, ["class: 'not a path' is not a dotted path"]),
        ({"name": "jsonl", "enabled": "no"}, ["enabled: must be true or false"]),
        ({"name": "jsonl", "delivery_timeout_s": 0}, ["delivery_timeout_s: must be a number of seconds above 0"]),
        ({"name": "github_summary", "metrics": "speed"}, ["metrics: must be a list of names"]),
    ],
)
def test_a_wrong_key_is_named_with_the_nearest_known_one(spec: dict[str, Any], problems: list[str]) -> None:
    found = check_spec(spec)
    assert len(found) == len(problems)
    for shown, expected in zip(found, problems, strict=True):
        assert shown.startswith(expected)
