"""Every place that reads what others wrote: a FIFO in its way is named or left out, and never waited for."""

from __future__ import annotations

import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from session_factory import MadeRun, make_session

from assay.analysis.read_results import read_results_folder
from assay.analysis.rules import FILE_NAME, load_floors
from assay.benchmarks.dedup_benchmark import recalls
from assay.errors import DataError
from assay.history.importers import import_file
from assay.loadgen.schedulers.arrivals import TraceLoadScheduler
from assay.record import SessionFolder
from assay.record.results_file import read_records
from assay.record.tasks_file import MOST_WARNINGS, read_tasks
from assay.report.run_folder import RunFolder, UsageSeries
from assay.sinks.delivery.outbox import Outbox
from assay.weights.files.model_files import open_model
from assay.weights.versions.commit import unseal

READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "session.json": ("session.json", lambda path: SessionFolder(path.parent).info()),
    "env.json": ("env.json", lambda path: SessionFolder(path.parent).environment()),
    "results.jsonl": ("results.jsonl", lambda path: list(read_records(path))),
    "metrics.json": ("metrics.json", lambda path: read_results_folder(path.parent)),
    "noise floors": (FILE_NAME, lambda path: load_floors(path.parent)),
    "other tool": ("times.json", lambda path: import_file(path, path.parent)),
    "trace": ("t.csv", lambda path: list(TraceLoadScheduler(str(path)).arrivals(np.random.default_rng(0)))),
    "safetensors": ("m.safetensors", open_model),
    "pytorch": ("m.pt", open_model),
    "weight index": ("m.safetensors.index.json", lambda path: open_model(path.parent)),
    "weight repository": ("format", unseal),
    "known duplicates": ("known.jsonl", lambda path: recalls(path, "id", set())),
    "outbox": ("outbox/sinks.json", lambda path: Outbox(path.parent.parent).specs()),
    "messages": ("outbox/messages.jsonl", lambda path: list(Outbox(path.parent.parent).log.read(0))),
}


@pytest.mark.parametrize(("name", "read"), READERS.values(), ids=READERS)
def test_a_fifo_is_named(tmp_path: Path, name: str, read: Callable[[Path], Any]) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(DataError, match="is a FIFO, not a regular file") as caught:
        read(path)
    assert str(path) in str(caught.value)


OTHERWISE = ("trace", "pytorch", "safetensors", "messages", "results.jsonl", "weight repository")
"""Not JSON, or JSON whose bad lines are passed over, or whose checksum is looked at first."""
JSON_READERS = [name for name in READERS if name not in OTHERWISE]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' + "7" * 5000 + "}"], ids=["nested", "digits"])
@pytest.mark.parametrize("reader", JSON_READERS)
def test_json_that_a_parser_stumbles_over_is_named(tmp_path: Path, reader: str, text: str) -> None:
    name, read = READERS[reader]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(DataError, match=r"nested deeper than|more than 4300 digits") as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_safetensors_header_that_a_parser_stumbles_over_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    header = b"[" * 100_000
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(DataError, match="its header is nested deeper than 100 levels"):
        open_model(path)


def test_a_pytorch_file_whose_lists_hold_each_other_is_not_walked_for_ever(tmp_path: Path) -> None:
    value: list[Any] = [1]
    for _ in range(60):
        value = [value, value]
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:
        archive.writestr("m/data.pkl", pickle.dumps(value, protocol=2))
    with pytest.raises(DataError, match="names more than 1,000,000 values"):
        open_model(tmp_path / "m.pt")


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"name": "a", "run_id": "r", "outcome": "splendid", "schema_version": 2}\n')
    with pytest.raises(DataError, match=r"results\.jsonl:1: is not a record: "):
        list(read_records(path))


def test_what_a_run_left_that_is_no_file_is_empty_in_its_report(tmp_path: Path) -> None:
    folder = make_session(tmp_path, [MadeRun("alpha")])
    files = RunFolder(folder, folder.records()[0])
    assert files.log_tail()
    assert files.usage_series().t
    for name in ("stdouterr.log", "usage.csv", "results.jsonl"):
        (files.path / name).unlink(missing_ok=True)
        os.mkfifo(files.path / name)
    assert files.log_tail() == ""
    assert files.usage_series() == UsageSeries()
    assert files.tasks() == ()


def test_names_in_a_pickle_of_tasks_can_be_kept_in_a_file(tmp_path: Path) -> None:
    task = {"stage": "s\ud800", "metrics": {"t\udc80": 1.0}, "invocation": "i\udfff"}
    (tmp_path / "tasks.pkl").write_bytes(pickle.dumps([task]))
    (read,) = read_tasks(tmp_path).tasks
    assert (read.stage, dict(read.metrics), read.invocation) == ("s\ufffd", {"t\ufffd": 1.0}, "i\ufffd")


def test_of_very_many_bad_lines_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("{broken\n" * 1000)
    warnings = read_tasks(tmp_path).warnings
    assert len(warnings) == MOST_WARNINGS + 1
    assert warnings[-1] == "tasks.jsonl: 980 more lines were left out"
