"""The metrics page of a service: what is read of it, and what becomes of it in a record."""

from __future__ import annotations

import random

import pytest

from assay.session.service.scraped_metrics import (
    MOST_METRICS,
    MOST_SERIES,
    increase,
    read_metrics_page,
    summarise_readings,
)

PAGE = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a"} 3.0
vllm:num_requests_running{engine="1",model_name="a"} 5.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="a"} 1.2e+06
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{le="0.1"} 4
vllm:time_to_first_token_seconds_sum 1.5
vllm:time_to_first_token_seconds_count 4
# TYPE rpc summary
rpc{quantile="0.5"} 4773
rpc_sum 17
# TYPE queue gauge
queue NaN
escaped{path="C:\\\\DIR\\n\\"x\\"",other="}"} 7 1395066363000
tokens 5 # {trace_id="abc"} 0.5 1520879607.789
"""


def names(page: str) -> dict[str, float]:
    return {str(series): value for series, value in read_metrics_page(page).items()}


def test_a_page_is_read() -> None:
    assert names(PAGE) == {
        'vllm:num_requests_running{engine="0",model_name="a"}': 3.0,
        'vllm:num_requests_running{engine="1",model_name="a"}': 5.0,
        'vllm:prompt_tokens_total{engine="0",model_name="a"}': 1.2e6,
        "vllm:time_to_first_token_seconds_sum": 1.5,
        "vllm:time_to_first_token_seconds_count": 4.0,
        "rpc_sum": 17.0,
        'escaped{path="C:\\DIR\n"x"",other="}"}': 7.0,
        "tokens": 5.0,
    }
    kinds = {series.name: series.kind for series in read_metrics_page(PAGE)}
    assert kinds["vllm:prompt_tokens_total"] == kinds["rpc_sum"] == "counter"
    assert kinds["vllm:num_requests_running"] == "gauge"


def test_names_of_openmetrics_are_counters() -> None:
    assert [series.kind for series in read_metrics_page("# TYPE a counter\na_total 1\na_created 5\n# EOF\n")] == [
        "counter"
    ]


def test_a_page_has_limits() -> None:
    page = "".join(f"metric_{number} {number}\n" for number in range(10 * MOST_SERIES))
    assert len(read_metrics_page(page)) == MOST_SERIES
    assert not read_metrics_page('a{b="' + "x" * 100_000 + '"} 1\n')
    assert not read_metrics_page("a" * 300 + " 1\n")


def test_no_page_breaks_the_reader() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        letters = list(PAGE)
        for _ in range(rng.randrange(1, 12)):
            letters[rng.randrange(len(letters))] = rng.choice('{}"\\,= \n#1aeN\t\0é')
        read_metrics_page("".join(letters))


def test_gauges_and_counters_become_metrics() -> None:
    first, second = read_metrics_page(PAGE), read_metrics_page(PAGE.replace(" 3.0", " 4.0").replace("e+06", "e+07"))
    readings = {series: [first[series], second[series]] for series in first}
    assert summarise_readings(readings, ["vllm:num*", "*tokens_total"]) == {
        "service_vllm_num_requests_running_engine_0_mean": 3.5,
        "service_vllm_num_requests_running_engine_0_max": 4.0,
        "service_vllm_num_requests_running_engine_1_mean": 5.0,
        "service_vllm_num_requests_running_engine_1_max": 5.0,
        "service_vllm_prompt_tokens_total_increase": pytest.approx(1.08e7),
    }
    assert set(summarise_readings(readings, [])) == {
        f"service_vllm_num_requests_running_engine_{engine}_{what}" for engine in "01" for what in ("mean", "max")
    }


def test_a_counter_that_began_again_has_gained_what_it_shows() -> None:
    assert increase([5, 9, 2, 4]) == 4 + 2 + 2
    assert increase([5]) == 0


def test_there_are_not_too_many_metrics() -> None:
    page = "".join(f"queue_{number} {number}\n" for number in range(200))
    readings = {series: [value] for series, value in read_metrics_page(page).items()}
    assert len(summarise_readings(readings, [])) == MOST_METRICS
