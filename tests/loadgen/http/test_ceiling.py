from __future__ import annotations

import pytest

from assay.loadgen.http.compiled_client import CompiledClient
from assay.loadgen.http.open_client import Ceiling, measure_ceiling
from assay.loadgen.http.plain_client import PlainClient


def test_the_compiled_client_gets_through_more_than_the_plain_one() -> None:
    compiled = measure_ceiling(requests=1000, make=CompiledClient)
    plain = measure_ceiling(requests=300, make=PlainClient)
    assert compiled.client == "C"
    assert plain.client == "Python"
    # Several times as many on a quiet machine.
    assert compiled.most_per_s() > 2 * plain.most_per_s()
    assert compiled.held_per_s > 0
    assert 0 <= compiled.late_p50_s <= compiled.late_p99_s


def test_receipts_count() -> None:
    ceiling = Ceiling("C", 32, 16, 1000.0, 20e-6, 5e-6, 1e-6, 9e-6)
    assert ceiling.most_per_s() == pytest.approx(50_000)
    assert ceiling.most_per_s(17) == pytest.approx(10_000)
    assert ceiling.lines() == [
        "client: C; 16 in flight, 32 streamed tokens an answer",
        (
            "answers in one receipt: 20.0 µs of CPU a request, "
            "at most 50,000 requests a second on one core (1,000 held here)"
        ),
        "answers in 32 receipts: 175.0 µs of CPU a request, at most 5,714 requests a second on one core",
        "Poisson arrivals at 200 a second: sent 1 µs late at the median, 9 µs at p99",
    ]
