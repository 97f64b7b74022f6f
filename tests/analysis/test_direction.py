import pytest

from assay.analysis.rules import direction


@pytest.mark.parametrize(
    ("name", "unit", "better"),
    [
        ("time_taken", None, "lower"),
        ("exec_time_s", "s", "lower"),
        ("throughput_rows_per_s", None, "higher"),
        ("rows", "1/s", "higher"),
        ("tokens", "tokens/s", "higher"),
        ("save", "ms", "lower"),
        ("latency_p99_ms", None, "lower"),
        ("p99", "us", "lower"),
        ("usage.peak_rss_mb", "MB", "lower"),
        ("stage_jsonl_reader_process_time_sum", None, "lower"),
        ("compression_ratio", None, "higher"),
        ("space_saved_percent", None, "higher"),
        ("accuracy", None, "higher"),
        ("eval_loss", None, "lower"),
        ("perQuerySlowdown", None, "lower"),
        ("qps", None, "higher"),
        ("memory_growth_mb", None, "lower"),
        ("num_output_tasks", None, None),
        ("num_removed", None, None),
        ("seed", None, None),
        ("stage_x_process_time_std", None, None),
        ("windows", None, None),
    ],
)
def test_known_from_names_and_units(name: str, unit: str | None, better: str | None) -> None:
    assert direction(name, unit, None) == better


def test_what_is_declared_wins() -> None:
    assert direction("time_taken", "s", "higher") == "higher"
