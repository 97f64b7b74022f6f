"""A results folder with three sessions, of which the middle one is damaged file by file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from mutants import Mutant, json_mutants
from session_factory import START, MadeRun, make_session

from assay.record import RequirementResult, TaskPerf

NAME, OTHER, ENTRY = "damaged", "base", "alm"
FILES = ("session.json", "env.json", "results.jsonl", "alm/results.jsonl")


class DamagedSession:
    def __init__(self, results: Path) -> None:
        self.results = results
        for day, name in enumerate((OTHER, NAME, "whole")):
            make_session(results, _runs(), name=name, started=START + timedelta(days=day))
        self.folder = results / NAME
        self._right = {file: (self.folder / file).read_bytes() for file in FILES}

    def mutants(self, file: str) -> Iterator[Mutant]:
        """Damaged copies of a file; in a file of records only the first line is damaged."""
        first, *rest = self._right[file].splitlines() if file.endswith(".jsonl") else [self._right[file]]
        for mutant in json_mutants(filled(json.loads(first))):
            yield Mutant(f"{file}: {mutant.what}", b"\n".join([mutant.data, *rest, b""]))

    def write(self, file: str, mutant: Mutant) -> None:
        (self.folder / file).write_bytes(mutant.data)

    def mend(self) -> None:
        for file, data in self._right.items():
            (self.folder / file).write_bytes(data)


def _runs() -> list[MadeRun]:
    rows = {"value": 100.0, "unit": "1/s", "better": "higher", "samples": [1.0, 2.0]}
    full = MadeRun(
        ENTRY, {"rows_per_s": rows, "n": 3, "is_success": True}, params={"rows": 1}, warnings=("w",), reasons=("r",),
        requirements=(RequirementResult("n", "≥ 1", 3, True),), tasks=(TaskPerf("stage", {"process_time": 1.0}),),
    )  # fmt: skip
    return [full, MadeRun("other", {"x": 1.0})]


def filled(written: dict[str, Any]) -> dict[str, Any]:
    """The file with what only some sessions have, so that it is damaged, too."""
    if "planned" in written:
        return {**written, "plan": {"entries": [{"name": ENTRY}]}, "pid": 1, "viewer_url": "https://example.org/"}
    if "run_id" not in written:
        return written
    own = {"interpreter": "python3", "python": "3.12", "packages": {"numpy": "2"}}
    return {**written, "environment": own, "margins": {"n": 0.1}, "sink_data": {"slack": {"a": 1}}, "host": "h"}
