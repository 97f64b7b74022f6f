from __future__ import annotations

from pathlib import Path

import pytest

from assay.config.entry import Entry
from assay.errors import UsageError
from assay.experiments.variant import Variant

SCRIPT = Entry(
    "e", ("python3", "s.py"), ("--workers", "1", "--mode=fast"), 10.0, "x.yaml:1", script=Path("s.py"), env={"A": "1"}
)


def test_each_kind_of_key_changes_its_own_thing() -> None:
    words = [
        "workers=4",
        "mode=slow",
        "new_option=x",
        "OMP_NUM_THREADS=2",
        "interpreter=/opt/python",
        "args='--tail 1'",
    ]
    entry = Variant.parse("a", [word.replace("'", "") for word in words]).apply(SCRIPT)
    assert entry.args == ("--workers", "4", "--mode=slow", "--new-option", "x", "--tail", "1")
    assert entry.env == {"A": "1", "OMP_NUM_THREADS": "2"}
    assert entry.program == ("/opt/python", "s.py")


def test_revision_and_overrides_are_for_the_plan() -> None:
    variant = Variant.parse("b", ["rev=HEAD~1", "entries.e.timeout_s=5"])
    assert (variant.revision, variant.overrides) == ("HEAD~1", ("entries.e.timeout_s=5",))
    assert variant.apply(SCRIPT) == SCRIPT
    assert variant.words == "rev=HEAD~1 entries.e.timeout_s=5"


def test_braces_are_the_users_own() -> None:
    assert Variant.parse("a", ["mode={x}"]).apply(SCRIPT).args[2] == "--mode={{x}}"


def test_what_is_no_key_and_value_is_refused() -> None:
    with pytest.raises(UsageError, match="write KEY=VALUE"):
        Variant.parse("a", ["workers"])
    command = Entry("e", ("ls",), (), 1.0, "here")
    with pytest.raises(UsageError, match="not a Python script"):
        Variant.parse("a", ["interpreter=x"]).apply(command)
