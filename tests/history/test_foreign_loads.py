"""Results of other tools that load servers: theirs are the definitions, and the names say so."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.history.importers import import_file
from assay.record import Outcome, Record

DATA = Path(__file__).parent / "data"


def imported(name: str, folder: Path) -> Record:
    [record] = import_file(DATA / name, folder).records()
    return record


def test_guidellm(tmp_path: Path) -> None:
    record = imported("guidellm.json", tmp_path)
    written = json.loads((DATA / "guidellm.json").read_text())["benchmarks"][0]
    ttft = written["metrics"]["time_to_first_token_ms"]["successful"]
    assert record.name == "guidellm concurrent 2 #1"
    assert record.metrics["guidellm_ttft_s_p99"].value == pytest.approx(ttft["percentiles"]["p99"] / 1000)
    latency = written["metrics"]["request_latency"]["successful"]["mean"]
    assert record.metrics["guidellm_latency_s_mean"].value == pytest.approx(latency)
    assert record.metrics["guidellm_requests"].value == 6
    assert record.metrics["guidellm_tpot_s_p50"].better == "lower"
    assert record.started_at.startswith("2026-11-17T22:16:16")
    assert record.exec_time_s == pytest.approx(written["duration"])


def test_aiperf(tmp_path: Path) -> None:
    record = imported("aiperf.json", tmp_path)
    written = json.loads((DATA / "aiperf.json").read_text())
    assert record.metrics["aiperf_itl_s_p95"].value == pytest.approx(written["inter_token_latency"]["p95"] / 1000)
    assert record.metrics["aiperf_requests_per_s"].value == pytest.approx(written["request_throughput"]["avg"])
    assert record.command.startswith("aiperf profile --model")


def test_vllm(tmp_path: Path) -> None:
    record = imported("vllm.json", tmp_path)
    assert record.name == "vllm bench serve openai-chat 4.0 a second at most 8 at once"
    assert record.metrics["vllm_ttft_s_p50"].value == pytest.approx(0.01825)
    assert record.metrics["vllm_itl_s_p99_9"].value == pytest.approx(0.0095)
    assert record.metrics["vllm_errors"].value == 1
    assert "vllm_goodput_requests_per_s" not in record.metrics
    assert record.started_at == "2026-11-17T22:15:00+00:00"


@pytest.mark.parametrize("name", ["guidellm.json", "aiperf.json", "vllm.json"])
def test_no_metric_has_a_name_of_ours(tmp_path: Path, name: str) -> None:
    tool = name.removesuffix(".json")
    assert all(metric.startswith(f"{tool}_") for metric in imported(name, tmp_path).script_metrics)


def test_a_load_that_nobody_answered_has_failed(tmp_path: Path) -> None:
    path = changed(tmp_path, "vllm.json", {"completed": 0})
    [record] = import_file(path, tmp_path / "results").records()
    assert record.outcome is Outcome.FAILED
    assert record.reasons == ("no request was answered",)


def changed(folder: Path, name: str, values: dict[str, Any]) -> Path:
    path = folder / f"changed-{name}"
    path.write_text(json.dumps({**json.loads((DATA / name).read_text()), **values}))
    return path


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("vllm.json", {"duration": "long"}, "duration is 'long', which is not a number (read as a file of vllm bench"),
        ("vllm.json", {"duration": -1}, "duration is -1, which is below 0"),
        ("vllm.json", {"p99_ttft_ms": True}, "p99_ttft_ms is True, which is not a number"),
        ("vllm.json", {"mean_itl_ms": 1e300}, "mean_itl_ms is 1e+300, which is not a number"),
        ("aiperf.json", {"request_latency": {"unit": "furlong", "avg": 1}}, "request_latency.unit is 'furlong'"),
        ("aiperf.json", {"inter_token_latency": [1]}, "inter_token_latency.unit is None"),
        ("guidellm.json", {"benchmarks": [{"metrics": {"request_latency": {"successful": {"mean": "x"}}}}]},
         "benchmarks[0].metrics.request_latency.successful.mean is 'x'"),
        ("guidellm.json", {"benchmarks": [{"metrics": {"request_latency": {"successful": {"percentiles": [1]}}}}]},
         "successful.percentiles is not a mapping"),
        ("guidellm.json", {"benchmarks": [{"metrics": {"request_latency": 1}, "start_time": "never"}]},
         "start_time is 'never'"),
    ],
)  # fmt: skip
def test_an_odd_file_is_one_message(tmp_path: Path, name: str, values: dict[str, Any], message: str) -> None:
    path = changed(tmp_path, name, values)
    with pytest.raises(DataError) as error:
        import_file(path, tmp_path / "results")
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["guidellm.json", "aiperf.json", "vllm.json"])
def test_every_value_replaced_by_another_kind_is_read_or_refused(tmp_path: Path, name: str) -> None:
    """Nothing but DataError may come of a file, whatever stands where."""
    written = json.loads((DATA / name).read_text())
    odd = (None, [], {}, "word", -1, 1e308, True)
    for number, path in enumerate(paths(written)):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(replaced(written, path, odd[number % len(odd)])))
        with suppress(DataError):
            import_file(file, tmp_path / "results")


def paths(value: Any, at: tuple[Any, ...] = (), deepest: int = 5) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [path for key, item in items if len(at) < deepest for path in paths(item, (*at, key), deepest)]
    return [*([at] if at else []), *inner[:60]]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


def test_the_command_reads_all_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(DATA / name) for name in ("guidellm.json", "aiperf.json", "vllm.json")]
    assert main(["history", "--results-dir", str(tmp_path), "import", *files]) == 0
    assert capsys.readouterr().out.count("1 new") == 3
