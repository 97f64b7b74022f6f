from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, made_record, make_session

import assay
from assay.errors import UsageError
from assay.record import Outcome

CONFIG = """
results_dir: {folder}/results
entries:
  - {{name: quick, command: "true", repeat: 2, warmup: 1}}
  - {{name: broken, command: "false"}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "assay.yaml"
    file.write_text(CONFIG.format(folder=tmp_path))
    return file


def nights(folder: Path, count: int = 4) -> Path:
    """A session a night, `rows_per_s` of `a` rising, of `b` the same."""
    for night in range(count):
        make_session(
            folder,
            [
                MadeRun("a", {"rows_per_s": {"value": 100.0 + night, "unit": "1/s"}, "rows": 10 * night}),
                MadeRun("b", {"rows_per_s": {"value": 50.0, "unit": "1/s"}}, params={"size": "large"}),
                MadeRun("a", {"rows_per_s": 1.0}, warmup=True, repeat=9, repeats=2),
            ],
            name=f"night-{night}",
            started=START + timedelta(days=night),
        )
    return folder


def test_run_gives_the_records_and_leaves_a_session(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = assay.run(config, reason="for a test")
    assert [(record.name, record.outcome) for record in records] == [
        ("quick", Outcome.PASSED), ("broken", Outcome.FAILED), ("quick", Outcome.PASSED),
    ]  # fmt: skip
    assert not records.passed
    assert "Started session" in capsys.readouterr().out
    again = assay.results(results_dir=config.parent / "results")
    assert [record.run_id for record in again] == [record.run_id for record in records]


def test_run_selects_and_overrides(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = assay.run(config, entries="quick", set={"entries.quick.repeat": 3, "entries.quick.warmup": 0}, quiet=True)
    assert len(records) == 3
    assert records.passed
    assert capsys.readouterr().out == ""
    assert len(assay.run([config], entries="quick", set=["entries.quick.repeat=1"], quiet=True)) == 1


def test_run_takes_a_command(tmp_path: Path) -> None:
    records = assay.run(command=["sleep", "0.01"], runs=2, results_dir=tmp_path / "r", quiet=True)
    assert records.entries == ("sleep",)
    assert len(records) == 2


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({}, "takes a config file or a command"),
        ({"config": "a.yaml", "command": ["true"]}, "takes a config file or a command"),
        ({"command": "sleep 1"}, "a list of words"),
        ({"config": "a.yaml", "set": "a=b"}, "a mapping or a list"),
    ],
)
def test_run_says_what_it_wants(keywords: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        assay.run(**keywords)  # type: ignore[arg-type]


def test_results_of_all_of_some_and_of_one(tmp_path: Path) -> None:
    folder = nights(tmp_path)
    assert assay.results(results_dir=folder).sessions == ("night-0", "night-1", "night-2", "night-3")
    assert assay.results(results_dir=folder, last=2).sessions == ("night-2", "night-3")
    assert assay.results("latest~1", results_dir=folder).sessions == ("night-2",)
    assert assay.results(["night-0", "latest"], results_dir=folder, entry="b").entries == ("b",)
    assert assay.results(folder / "night-1").sessions == ("night-1",)
    assert len(assay.results("latest", results_dir=folder)) == 2
    assert len(assay.results("latest", results_dir=folder, everything=True)) == 3
    assert len(assay.results(results_dir=tmp_path / "nowhere")) == 0
    assert not assay.results(results_dir=tmp_path / "nowhere").passed


def test_the_same_table_in_every_library(tmp_path: Path) -> None:
    records = assay.results(results_dir=nights(tmp_path))
    frame = records.to_pandas()
    assert list(frame["rows_per_s"]) == [100.0, 50.0, 101.0, 50.0, 102.0, 50.0, 103.0, 50.0]
    assert frame["rows"].sum() == 60
    assert str(frame["rows"].dtype) == "Int64"
    assert list(frame["params.size"].dropna()) == ["large"] * 4
    assert str(frame["started_at"].dt.tz) == "UTC"
    assert frame["usage.cpu_s"].iloc[0] == 16.0
    lazy, arrow = records.to_polars(), records.to_arrow()
    assert lazy.columns == arrow.column_names == list(frame.columns)
    assert lazy["rows"].to_list() == arrow["rows"].to_pylist() == [0, None, 10, None, 20, None, 30, None]
    assert lazy.height == arrow.num_rows == len(records)


def test_whatever_a_program_writes_fits_into_a_table() -> None:
    odd = {
        "mixed": 1, "nested": {"a": [1, 2]}, "huge": 10**400, "wide": 2**63, "nan": float("nan"), "flag": True,
        "outcome": "mine", "surrogate": "a\ud800b",
    }  # fmt: skip
    runs = MadeRun("a", odd), MadeRun("a", {"mixed": "word", "flag": 1}, repeat=2, repeats=2)
    records = assay.Records(made_record(run, "night", START) for run in runs)
    for table in (records.to_pandas(), records.to_polars().to_pandas(), records.to_arrow().to_pandas()):
        assert list(table["mixed"]) == ["1", "word"]
        assert table["nested"][0] == '{"a": [1, 2]}'
        assert table["huge"][0] == float("inf")
        assert table["wide"][0] == 2.0**63
        assert list(table["flag"]) == ["true", "1"]
        assert table["metrics.outcome"][0] == "mine"
        assert table["outcome"][0] == "passed"
        assert table["surrogate"][0] == "a?b"


def test_no_records_are_an_empty_table() -> None:
    assert assay.Records([]).to_pandas().empty
    assert assay.Records([]).to_polars().is_empty()
    assert assay.Records([]).to_arrow().num_rows == 0


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module, method, extra in (("pandas",) * 3, ("polars",) * 3, ("pyarrow", "arrow", "arrow")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(assay_error(), match=rf"pip install 'assay-bench\[{extra}\]'"):
            getattr(assay.Records([]), f"to_{method}")()


def assay_error() -> type[Exception]:
    from assay.errors import MissingExtra

    return MissingExtra


def test_a_plot_has_a_line_an_entry_and_a_point_a_session(tmp_path: Path) -> None:
    records = assay.results(results_dir=nights(tmp_path / "r"))
    chart = records.plot("rows_per_s")
    assert [name for name, _ in chart.plot.lines] == ["a", "b"]
    assert chart.plot.lines[0][1] == (100.0, 101.0, 102.0, 103.0)
    assert (chart.plot.unit, chart.plot.x_name) == ("1/s", "UTC")
    assert "a: last 103 1/s, 4 sessions" in repr(chart)
    assert "<svg" in chart._repr_html_()
    assert chart.save(tmp_path / "chart.html").read_text().startswith("<!doctype html>")
    assert [name for name, _ in records.plot("rows_per_s", entry="b").plot.lines] == ["b"]
    with pytest.raises(UsageError, match="rows_per_s"):
        records.plot("row_per_s")


def test_compare_by_words_and_by_records(config: Path) -> None:
    first = assay.run(config, entries="quick", quiet=True)
    second = assay.run(config, entries="quick", quiet=True)
    by_records = assay.compare(first, second)
    by_words = assay.compare("latest~1", "latest", results_dir=config.parent / "results")
    assert by_records.rows == by_words.rows
    assert {row.entry for row in by_records.rows} == {"quick"}
    assert "exec_time_s" in str(assay.compare(first, second, margin="0.001%"))
    assert "<iframe sandbox" in by_records._repr_html_()
    with pytest.raises(UsageError, match="has no runs"):
        assay.compare(first, assay.Records([]))


def test_a_notebook_shows_what_a_program_wrote_and_runs_none_of_it(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    make_session(tmp_path, [MadeRun("a", {"x": {"value": 1.0, "unit": evil, "better": "lower"}}, folder="a")])
    shown = assay.results(results_dir=tmp_path)._repr_html_()
    assert "<table>" in shown
    assert evil not in shown
    assert "&lt;script&gt;" in shown
    assert repr(assay.results(results_dir=tmp_path)) == "<assay.Records: 1 run of 1 entry in 1 session, all passed>"


def test_a_session_runs_in_a_thread(config: Path) -> None:
    """Signals belong to the main thread; a notebook's server may well run this in another."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(assay.run, config, entries="quick", quiet=True).result().passed
