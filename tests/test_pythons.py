from __future__ import annotations

import re
import tomllib

from declared import ROOT


def test_the_package_claims_the_versions_of_python_that_are_tested() -> None:
    """`make test` runs with the oldest that is allowed, `make test-pythons` with the others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = {line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line}
    make = (ROOT / "make" / "pythons.mk").read_text(encoding="utf-8")
    listed = re.search(r"^PYTHONS \?= (.*)$", make, re.MULTILINE)
    assert listed is not None
    oldest = project["requires-python"].removeprefix(">=")
    assert claimed == {oldest, *(name.removeprefix("python") for name in listed[1].split())}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"{version}" in readme for version in claimed)
