from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from load_stages import Count, Fragile

from assay.loadgen import Graph, LoadGen, SingleStreamLoadScheduler, Stop, Warmup
from assay.loadgen.trace_file import EVENT_COLUMNS, Rows, TraceTrack, read_rows, write_events, write_trace
from assay.stages.synthetic import NoOp

NAMES = {0: "count", 1: "no-op"}


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    raw = tmp_path / "raw"
    graph = Graph.chain([Count(), NoOp()])
    LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=4), warmup=Warmup(queries=1)).run(raw)
    return read_rows(raw)


def test_one_row_an_event_with_query_stage_and_times(rows: Rows, tmp_path: Path) -> None:
    write_events(rows, NAMES, tmp_path / "events.csv")
    with (tmp_path / "events.csv").open() as file:
        events = list(csv.DictReader(file))
    assert tuple(events[0]) == EVENT_COLUMNS
    kinds = [(e["event"], e["phase"], e["stage_name"], e["query"]) for e in events]
    assert kinds[:3] == [
        ("stage", "warm-up", "count", "-1"),
        ("stage", "warm-up", "no-op", "-1"),
        ("pipeline", "warm-up", "", "-1"),
    ]
    assert kinds[-1] == ("test", "measured", "", "0")
    assert len(events) == 5 * 3 + 1
    for event in events:
        assert int(event["intended"]) <= int(event["start"]) <= int(event["end"])
    assert {e["items"] for e in events if e["stage_name"] == "count"} == {"3"}


def test_parquet_holds_the_same(rows: Rows, tmp_path: Path) -> None:
    write_events(rows, NAMES, tmp_path / "events.parquet")
    write_events(rows, NAMES, tmp_path / "events.csv")
    table = pq.read_table(tmp_path / "events.parquet")
    assert table.column_names == list(EVENT_COLUMNS)
    with (tmp_path / "events.csv").open() as file:
        for ours, theirs in zip(table.to_pylist(), csv.DictReader(file), strict=True):
            assert {key: str(value) for key, value in ours.items()} == theirs


def test_the_trace_is_what_chrome_reads(rows: Rows, tmp_path: Path) -> None:
    write_trace([TraceTrack("one", rows, NAMES), TraceTrack("two", rows, NAMES)], tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert len(spans) == 2 * 5 * 2
    assert {e["pid"] for e in spans} == {1, 2}
    assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in spans)
    begun = [e["id"] for e in events if e["ph"] == "b"]
    assert sorted(begun) == sorted(e["id"] for e in events if e["ph"] == "e")
    assert len(set(begun)) == len(begun) == 10
    names = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert names == {"queries", "count", "no-op"}


def test_a_failed_query_is_marked(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    LoadGen(Graph.chain([Fragile(2)]), SingleStreamLoadScheduler(), Stop(max_queries=4)).run(raw)
    write_events(read_rows(raw), {0: "fragile"}, tmp_path / "events.csv")
    with (tmp_path / "events.csv").open() as file:
        bad = [(e["event"], e["query"]) for e in csv.DictReader(file) if e["status"] == "error"]
    assert bad == [("stage", "2"), ("pipeline", "2"), ("test", "0")]


def test_a_row_cut_off_in_the_middle_is_left_out(rows: Rows, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(rows.tobytes()[:-3])
    assert len(read_rows(cut)) == len(rows) - 1
    cut.write_bytes(b"")
    assert len(read_rows(cut)) == 0
