"""A user's own files as a chain of versions: which store keeps them best, and how near the limit that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from assay.benchmarks.weight_scenarios.scenario_config import ScenarioConfig
from assay.benchmarks.weight_scenarios.scenario_data import ModelVersion, ScenarioData
from assay.benchmarks.weight_scenarios.version_chain import BOOKKEEPING, VersionChain
from assay.benchmarks.weights.compression import CompressionSuite, exact_cell, measure_chain
from assay.benchmarks.weights.results import Readings, SuiteResult
from assay.benchmarks.weights.stores import FLOOR, OWN
from assay.benchmarks.weights.tables import Columns, Table
from assay.errors import DataError
from assay.weights.files.model_files import open_model
from assay.weights.files.torch_file import TorchFile

SCENARIO = "own_checkpoints"
DEFAULT_STORES = (*OWN, FLOOR)
HELD = 2
"""Copies of a version in memory: one that was checked out, and what a store makes of it. The files are only mapped."""


class OwnCheckpoints(CompressionSuite):
    """The compression suite with one scenario: these files, each made from the one before it."""

    interpretation = (
        "On Disk: everything in the store's folder after all versions; First: after the first alone",
        "Of Limit: how much of the conditional-entropy limit is reached (64 bytes a tensor allowed)",
        "Save, Load: megabytes of tensors per CPU-second over the whole chain, programs that a store starts included",
    )

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__()
        self._notes: list[str] = []
        versions = tuple(self._version(number, file) for number, file in enumerate(files))
        dtypes = {tensor.dtype.name for version in versions for tensor in version.tensors.values()}
        self.chain = VersionChain(ScenarioData(SCENARIO, dtypes.pop() if len(dtypes) == 1 else "mixed", versions))

    def get_scenarios(self) -> list[str]:
        return [SCENARIO]

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        data = self.chain.data
        seconds = config.machine.chain_s(data.logical_bytes / 1e6, len(data.versions))
        return seconds * (2 + len(config.stores) * min(config.iterations, 3))

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        for note in self._notes:
            readings.note(note)
        data = self.chain.data
        largest = max(version.nbytes for version in data.versions)
        if reason := config.too_big(largest * HELD):
            raise DataError(f"the largest file {reason}")
        _ = self.chain.limit  # reads every file once, so that no store is the one that waits for the disk
        for store, run in measure_chain(readings, self.chain, config, config.budget).items():
            if store in config.stores:
                here = readings.at(store=store, dtype=data.dtype)
                here.add("first_bytes", run.first_stored_bytes, "B", "lower", exact=True, margin=BOOKKEEPING)
        return readings

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        lines = sorted(result.lines(), key=lambda line: line["stored_bytes"])
        if not lines:
            return
        data, limit = self.chain.data, self.chain.limit
        size = f"{len(data.versions)} versions, {_megabytes(data.logical_bytes)}, {data.dtype}"
        columns = _columns(later=len(data.versions) - 1)
        table = Table.of(f"Own Checkpoints ({size})", columns, lines, self.interpretation, result.notes)
        end = ("(limit)", _megabytes(limit.limit_bytes), f"{limit.ratio:.2f}x", *["-"] * 6)
        yield replace(table, rows=(*table.rows, end))

    def _version(self, number: int, file: str) -> ModelVersion:
        model = open_model(file)
        if not len(model):
            raise DataError(f"{file} has no tensors")
        if isinstance(model, TorchFile) and model.skipped:
            self._notes.append(f"{file}: {len(model.skipped)} values are no tensors, and left out")
        tensors = {name: model[name] for name in model}
        return ModelVersion(f"{number + 1}:{Path(file).name}", number - 1 if number else None, "own", tensors)


def _columns(later: int) -> Columns:
    """`later`: versions after the first."""
    return {
        "Store": "{store}",
        "On Disk": lambda line: _megabytes(line["stored_bytes"]),
        "Compression": "{compression_ratio:.2f}x",
        "Of Limit": "{of_limit:.1f}%",
        "First": lambda line: _megabytes(line["first_bytes"]),
        "Each Later": lambda line: _megabytes((line["stored_bytes"] - line["first_bytes"]) / later) if later else "-",
        "Save": "{commit_speed:,.0f} MB/s",
        "Load": "{checkout_speed:,.0f} MB/s",
        "Exact": exact_cell,
    }


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.2f} MB"
