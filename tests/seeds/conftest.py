"""Tests on samples from the documents of the five systems that Assay replaces (docs/migrate): their files, scripts and
commands run as they are."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.benchmarks.weight_probes.machine import Machine
from assay.benchmarks.weights import BenchmarkOrchestrator, orchestrator
from assay.benchmarks.weights.profile import Profile
from assay.benchmarks.weights.results import BenchmarkResults

PlannedRuns = list[tuple[BenchmarkOrchestrator, Profile]]


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlannedRuns]:
    """Weight suites plan all they are asked for and run none of it, in a folder of their own."""
    level = logging.getLogger("assay").level
    asked: PlannedRuns = []

    def only_plan(self: BenchmarkOrchestrator, profile: Profile) -> BenchmarkResults:
        assert self.plan(profile).steps
        asked.append((self, profile))
        return BenchmarkResults(profile.name, (), 0.0, 0.0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(orchestrator, "probe_machine", lambda store, scratch: Machine(cores=2))
    monkeypatch.setattr(BenchmarkOrchestrator, "run_all", only_plan)
    yield asked
    logging.getLogger("assay").setLevel(level)
