from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.records import noisy, record

from assay.analysis.insights import Insight, extract, recommendations
from assay.record import Record, TaskPerf, Usage
from assay.stats.warmup import find_warmup


def _only(records: list[Record], kind: str, folder: Path | None = None) -> list[Insight]:
    return [insight for insight in extract(records, folder) if insight.kind == kind]


def _tasks(**seconds: float) -> tuple[TaskPerf, ...]:
    return tuple(TaskPerf(stage, {"process_time": s / 10}) for stage, s in seconds.items() for _ in range(10))


def test_a_bottleneck_stage_with_what_it_is_worth() -> None:
    found = _only([record(tasks=_tasks(read=1.0, embed=8.0, write=1.0))], "bottleneck")
    assert [insight.says for insight in found] == ["stage embed takes 80% of the time of all 3 stages"]
    assert found[0].evidence == "8 s of 10 s in 10 calls"
    assert found[0].numbers["gain_if_twice_as_fast"] == pytest.approx(1 / 0.6)
    assert _only([record(tasks=_tasks(a=1.0, b=1.0, c=1.0))], "bottleneck") == []
    assert _only([record(tasks=_tasks(alone=1.0))], "bottleneck") == []


def test_pipelines_beside_each_other_have_a_bottleneck_each() -> None:
    """Together they are no whole: `batch` is not what makes `api` slow."""
    api = {"api/tokenise": 0.2, "api/model": 0.8}
    [found] = _only([record(tasks=_tasks(**api, **{"batch/crunch": 9.0}))], "bottleneck")
    assert found.says == "in pipeline api, stage model takes 80% of the time of its 2 stages"
    assert found.advice == "make model faster: twice as fast, the stages of api take 40% less time together"
    assert found.numbers == pytest.approx({"share": 0.8, "seconds": 0.8})
    even = {"api/a": 1.0, "api/b": 1.0, "api/c": 1.0, "batch/crunch": 9.0}
    assert _only([record(tasks=_tasks(**even))], "bottleneck") == []


def test_of_a_matrix_the_bottleneck_is_said_once_a_pipeline() -> None:
    stages = {"tokenise": 0.2, "model": 0.8}
    labels = ("api beside batch", "api alone", "api beside api")
    tasks = {f"{label}/{stage}": seconds for label in labels for stage, seconds in stages.items()}
    [found] = _only([record(tasks=_tasks(**tasks))], "bottleneck")
    assert found.says == "in pipeline api, stage model takes 80% of the time of its 2 stages"


def test_a_task_that_stands_for_many_calls_weighs_as_many() -> None:
    many = [TaskPerf("api/read", {"process_time": 0.01, "stands_for": 80.0}) for _ in range(10)]
    few = [TaskPerf("api/write", {"process_time": 0.2}) for _ in range(10)]
    [found] = _only([record(tasks=(*many, *few))], "bottleneck")
    assert found.says.startswith("stage api/read takes 80%")
    assert found.evidence == "8 s of 10 s in 800 calls"


def test_scaling_that_a_benchmark_measured() -> None:
    steep = {"commit_exponent": 1.6, "commit_exponent_low": 1.4, "commit_exponent_high": 1.8}
    assert "power 1.60" in _only([record(metrics=steep)], "scaling")[0].evidence
    unsure = {**steep, "commit_exponent_low": 0.9}
    assert _only([record(metrics=unsure)], "scaling") == []
    users = _only([record(metrics={"x.parallel_efficiency": 0.4})], "scaling")
    assert users[0].evidence == "40% of the ideal speed-up"


@pytest.mark.parametrize(("power", "steep"), [(2.0, True), (1.0, False)])
def test_scaling_over_entries_that_differ_in_one_number(power: float, steep: bool) -> None:
    runs = [_timed(f"n{size}", {"rows": size, "mode": "x"}, 0.001 * size**power) for size in (10, 40, 160)]
    assert bool(_only(runs, "scaling")) is steep


def test_more_workers_that_do_not_help() -> None:
    slow = [_timed(f"w{n}", {"workers": n}, 10 / n**0.2) for n in (1, 2, 4)]
    good = [_timed(f"w{n}", {"workers": n}, 10 / n**0.95) for n in (1, 2, 4)]
    assert _only(slow, "scaling")[0].says == "more workers help little"
    assert _only(good, "scaling") == []


def _timed(name: str, params: dict[str, Any], seconds: float) -> Record:
    made = record(name, params=params)
    return Record(**{**made.__dict__, "exec_time_s": seconds})


def test_memory_that_a_benchmark_calls_a_leak() -> None:
    metrics = {"m.commit_leaks": True, "m.growth_per_commit": 5.0, "m.growth_per_commit_low": 4.0,
               "m.growth_per_commit_high": 6.0}  # fmt: skip
    found = _only([record(metrics=metrics)], "memory")
    assert found[0].severity == 2
    assert found[0].evidence == "5 each time, 95% interval 4 to 6"
    assert _only([record(metrics={**metrics, "m.commit_leaks": False})], "memory") == []


@pytest.mark.parametrize(
    ("shape", "grows"),
    [
        (lambda t: 100 + 5 * t, True),
        (lambda t: 200 + 0 * t, False),
        (lambda t: np.where(t > 40, 400.0, 100.0), False),
        (lambda t: 100 + 200 * (1 - np.exp(-t / 5)), False),
    ],
)
def test_memory_that_rises_to_the_end(tmp_path: Path, shape: Any, grows: bool) -> None:
    seconds = np.linspace(0, 60, 120)
    memory = shape(seconds) + np.random.default_rng(0).normal(0, 1, 120)
    lines = ["t_s,cpu_s,rss_mb", *(f"{t:.3f},0,{m:.2f}" for t, m in zip(seconds, memory, strict=True))]
    (tmp_path / "usage.csv").write_text("\n".join(lines))
    found = _only([record(files={"usage": "usage.csv"})], "memory", tmp_path)
    assert bool(found) is grows


def test_a_usage_file_outside_the_session_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "usage.csv").write_text("t_s,rss_mb\n" + "\n".join(f"{i},{100 + i * 9}" for i in range(60)))
    inside = tmp_path / "session"
    inside.mkdir()
    assert _only([record(files={"usage": "../usage.csv"})], "memory", inside) == []


def test_compression_below_its_limit_and_lost_tensors() -> None:
    metrics = {"c.similar.s.of_limit": 0.6, "c.similar.s.compression_ratio": 3.0, "c.similar.s.limit_ratio": 5.0,
               "c.fine.s.of_limit": 0.95, "c.similar.s.wrong_tensors": 2}  # fmt: skip
    assert [i.evidence for i in _only([record(metrics=metrics)], "compression")] == [
        "60% of what is possible: 3.00 times smaller where 5.00 is possible"
    ]
    assert extract([record(metrics=metrics)])[0].kind == "accuracy"
    in_percent = {"of_limit": {"value": 60.0, "unit": "%"}, "other.of_limit": {"value": 98.0, "unit": "%"}}
    assert [i.numbers["of_limit"] for i in _only([record(metrics=in_percent)], "compression")] == [0.6]


def test_load_past_the_knee() -> None:
    curve = [{"rate": r, "p99": p} for r, p in ((100, 1.0), (200, 1.1), (400, 1.3), (800, 9.0))]
    found = _only([record(metrics={"sweep": curve})], "load")
    assert found[0].numbers["knee"] == 400
    assert found[0].evidence == "p99 1 at 100, 9 at 800"
    assert _only([record(metrics={"sweep": curve[:3]})], "load") == []
    behind = _only([record(metrics={"api.offered_rate": 100.0, "api.throughput": 60.0})], "load")
    assert "does not keep up" in behind[0].says


def test_no_load_is_advised_where_the_lowest_is_not_kept_up_with() -> None:
    rows = [{"rate": rate, "p99_ms": 10.0 * rate, "throughput": 40.0} for rate in (100, 200, 400)]
    [insight] = _only([record(metrics={"sweep": rows})], "load")
    assert insight.says == "sweep at rate 100, the lowest measured, does not keep up with what is asked of it"
    assert "at or below" not in insight.advice


def test_a_schedule_that_asks_for_less_than_its_rate_is_kept_up_with() -> None:
    """A seeded Poisson schedule at 150 a second may ask for only 133 in a short run."""
    rows = [{"rate": rate, "offered": 0.9 * rate, "p99_s": 0.01, "throughput": 0.895 * rate} for rate in (50, 100, 150)]
    assert _only([record(metrics={"api.rates": rows})], "load") == []
    behind = [*rows, {"rate": 200, "offered": 180.0, "p99_s": 0.011, "throughput": 150.0}]
    [found] = _only([record(metrics={"api.rates": behind})], "load")
    assert found.numbers["knee"] == 150
    assert found.evidence == "150 of 180 a second at 200; p99_s 0.01 at 50, 0.011 at 200"


def test_a_pipeline_beside_its_own_copy_and_one_round() -> None:
    key = "slowdown.api.beside.api.throughput"
    sure = {key: 1.5, f"{key}.low": 1.3, f"{key}.high": 1.7}
    [once] = _only([record(metrics=sure, params={"matrix": True, "repeat": 1})], "interference")
    assert once.says == "api loses throughput beside a copy of itself: 1.50 times worse than alone"
    assert once.evidence == "95% interval 1.30 to 1.70, of one round"
    [more] = _only([record(metrics=sure, params={"matrix": True, "repeat": 3})], "interference")
    assert more.evidence == "95% interval 1.30 to 1.70, over 3 rounds"


def test_the_median_is_told_only_where_there_is_no_tail() -> None:
    median = {"slowdown.a.beside.b.p50": 2.0, "slowdown.a.beside.b.p50.low": 1.8}
    tail = {"slowdown.a.beside.b.p99": 3.0, "slowdown.a.beside.b.p99.low": 2.8}
    assert [i.numbers["slowdown"] for i in _only([record(metrics={**median, **tail})], "interference")] == [3.0]
    assert [i.numbers["slowdown"] for i in _only([record(metrics=median)], "interference")] == [2.0]


def test_interference_needs_its_whole_interval_above_one() -> None:
    key = "slowdown.api.beside.batch.throughput"
    sure = {key: 1.5, f"{key}.low": 1.3, f"{key}.high": 1.7}
    found = _only([record(metrics=sure)], "interference")
    assert found[0].says == "api loses throughput beside batch: 1.50 times worse than alone"
    assert _only([record(metrics={**sure, f"{key}.low": 0.9})], "interference") == []


def test_warm_up_and_outliers_within_a_run_are_flagged() -> None:
    samples = list(noisy(1.0, 0.01, 60))
    slow_start = [1.5, 1.4, 1.3, 1.25, 1.2, 1.15, 1.1, 1.08, 1.06, 1.05, *samples]
    found = _only([record(metrics={"step_s": {"value": 1.0, "samples": slow_start}})], "measurement")
    assert any("warm-up: the first" in insight.says for insight in found)
    spiked = [*samples[:30], 5.0, *samples[30:]]
    found = _only([record(metrics={"step_s": {"value": 1.0, "samples": spiked}})], "measurement")
    assert [insight.evidence for insight in found] == ["number 31 is 5, the median 1.001"]
    assert _only([record(metrics={"step_s": {"value": 1.0, "samples": samples}})], "measurement") == []


def test_noise_between_runs_and_a_busy_machine() -> None:
    busy = Usage(wall_s=10.0, neighbour_cpu_s=12.0, throttled_s=2.0, samples=1)
    values = noisy(1, 0.2, 8)
    runs = [record(metrics={"time_taken_s": float(v)}, run=i + 1, usage=busy) for i, v in enumerate(values)]
    says = [str(insight) for insight in _only(runs, "measurement")]
    assert any("time_taken_s varies by" in line for line in says)
    assert any("8 of 8 runs were not alone" in line and "1.2 CPUs busy" in line for line in says)


def test_a_quota_is_not_called_a_neighbour() -> None:
    held = Usage(wall_s=10.0, throttled_s=2.0, samples=1)
    [insight] = _only([record(usage=held), record(run=2)], "measurement")
    assert insight.says == "1 of 2 runs was held back by the CPU quota"
    assert "larger quota" in insight.advice
    crowded = Usage(wall_s=10.0, neighbour_cpu_s=12.0, samples=1)
    [insight] = _only([record(usage=held), record(usage=crowded, run=2)], "measurement")
    assert insight.says == "1 of 2 runs was not alone on the machine"


def test_recommendations_say_why_once() -> None:
    metrics = {f"slowdown.{who}.beside.b.p99{part}": value for who in ("x", "y")
               for part, value in (("", 2.0), (".low", 1.8), (".high", 2.2))}  # fmt: skip
    said = recommendations(extract([record(metrics=metrics)]))
    assert len(said) == 1
    assert said[0].startswith("Give each its own processors")
    assert "x loses p99 beside b" in said[0]
    assert "y loses p99 beside b" in said[0]


def test_the_gain_counts_what_no_stage_accounts_for() -> None:
    """Stages of 28 ms in a run of 590: the other 562 stay as they are."""
    tasks = _tasks(read=0.002, embed=0.045, write=0.003)
    [found] = _only([_lasting(record(tasks=tasks), 0.6)], "bottleneck")
    assert found.numbers["gain_if_twice_as_fast"] == pytest.approx(1 / (1 - 0.045 / 0.6 / 2))
    assert "twice as fast, the whole would be 1.04 times as fast" in found.advice
    assert found.evidence == "0.045 s of 0.05 s in 10 calls; the runs took 0.6 s"
    assert _only([_lasting(record(tasks=tasks), 1.0)], "bottleneck") == [], "4.5% of the run"
    two = [_lasting(record(tasks=_tasks(read=0.002, embed=0.045, write=0.003), run=run), 0.3) for run in (1, 2)]
    assert _only(two, "bottleneck")[0].numbers["gain_if_twice_as_fast"] == pytest.approx(1 / (1 - 0.09 / 0.6 / 2))


def test_stages_that_ran_side_by_side_bound_the_gain() -> None:
    [found] = _only([_lasting(record(tasks=_tasks(read=1.0, embed=8.0, write=1.0)), 3.0)], "bottleneck")
    assert "at most 1.67 times" in found.advice


def test_parts_of_less_than_a_twentieth_of_the_run_are_not_spoken_of() -> None:
    spiked = [*noisy(3e-4, 0.01, 30), 3e-3, *noisy(3e-4, 0.01, 30, seed=1)]
    names = [f"stage_{n}_s" for n in range(28)]
    metrics = {name: {"value": 3e-4, "unit": "s", "samples": [float(value) for value in spiked]} for name in names}
    assert extract([_lasting(record(metrics=metrics), 0.59)]) == []
    assert len(_only([_lasting(record(metrics=metrics), 0.2)], "measurement")) == 5
    alone = {"time_s": metrics["stage_0_s"]}
    assert len(_only([_lasting(record(metrics=alone), 0.59)], "measurement")) == 1, "all that the program is about"


def test_small_times_that_vary_between_runs_are_not_spoken_of_but_latencies_are() -> None:
    factors = noisy(1, 0.2, 8)
    times = [{"parse_s": 1e-3 * float(f), "load_s": 1e-3, "latency_p99_s": 1e-3 * float(f)} for f in factors]
    runs = [_lasting(record(metrics=measured, run=number), 1.0) for number, measured in enumerate(times, 1)]
    assert [insight.says.split()[0] for insight in _only(runs, "measurement")] == ["latency_p99_s"]
    assert "runs would show" not in _only(runs, "measurement")[0].advice


def _lasting(made: Record, seconds: float) -> Record:
    return Record(**{**made.__dict__, "exec_time_s": seconds})


def _below(store: str, **more: Any) -> Insight:
    metrics = {"of_limit": {"value": 60.0, "unit": "%"}, **more}
    named = {f"compression.similar.{store}.float32.{name}": value for name, value in metrics.items()}
    [found] = _only([record(metrics=named)], "compression")
    assert store in found.says
    return found


def test_advice_on_compression_fits_its_store() -> None:
    for other in ("safetensors", "zipnn", "hdf5"):
        assert _below(other).advice == "", "settings of ours are not theirs"
        assert _below(other).severity == 0
    assert _below("assay-fast").advice.startswith("try the setting small in place of assay-fast, or clustering")
    assert _below("assay-small").advice.startswith("try clustering"), "it is the smallest already"
    apart = _below("assay-balanced", delta_share={"value": 20.0, "unit": "%"})
    assert "only 20% of the tensors in assay-balanced" in apart.advice
    assert "lower its similarity_threshold" in apart.advice
    assert not any("raise" in _below(store).advice for store in ("assay-fast", "assay-small", "zipnn"))


def test_a_lower_threshold_is_what_counts_more_as_similar() -> None:
    """The direction of the advice, from the store itself."""
    from assay.weights.base_finder import cluster

    rng = np.random.default_rng(0)
    sketches = rng.standard_normal(64) + 0.3 * rng.standard_normal((12, 64))
    sketches /= np.linalg.norm(sketches, axis=1, keepdims=True)
    counts = [cluster(sketches, "hierarchical", threshold).count for threshold in (0.5, 0.9, 0.999)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def _settles(samples: list[float], **more: Any) -> list[Insight]:
    metrics = {"step_s": {"value": 1.0, "samples": samples, **more}}
    return [i for i in _only([record(metrics=metrics)], "measurement") if "iteration" in i.says]


def test_warm_up_is_advised_only_where_it_gains_and_where_it_helps() -> None:
    steady = [float(value) for value in noisy(1.0, 0.01, 60)]
    [slow_start] = _settles([*(1.5 - 0.02 * n for n in range(20)), *steady])
    assert "before those it measures" in slow_start.advice
    assert "warmup: 1" not in slow_start.advice, "that is another process"
    barely = [float(value) for value in (*noisy(1.01, 0.002, 5), *noisy(1.0, 0.002, 55, seed=1))]
    assert find_warmup(barely).cut == 5
    assert _settles(barely) == [], "neither the median nor the mean moves by 1%"
    [fast_start] = _settles([*(0.6 + 0.01 * n for n in range(20)), *steady])
    assert "better at first than afterwards" in fast_start.advice
    [throughput] = _settles([*(0.6 + 0.01 * n for n in range(20)), *steady], better="higher")
    assert "before those it measures" in throughput.advice
