from __future__ import annotations

from time import monotonic_ns

from assay.loadgen.sender import SPIN_MOST_NS, Pacer


def test_never_early_and_never_more_than_a_hundred_microseconds_of_spinning() -> None:
    pacer = Pacer()
    never = memoryview(bytearray(8)).cast("q")
    for step in (50_000, 300_000, 2_000_000):
        for _ in range(20):
            deadline = monotonic_ns() + step
            assert pacer.wait_until(deadline, never, 0) >= deadline
            assert pacer.spin_ns <= SPIN_MOST_NS


def test_a_stop_ends_a_long_wait() -> None:
    stopped = memoryview(bytearray(8)).cast("q")
    stopped[0] = 1
    deadline = monotonic_ns() + 10**12
    assert Pacer().wait_until(deadline, stopped, 0) < deadline


def test_learns_how_late_sleeps_end() -> None:
    pacer = Pacer()
    for _ in range(500):
        pacer._learn(20_000)
    assert 20_000 <= pacer.spin_ns < 25_000
    pacer._learn(60_000)
    assert pacer.spin_ns == 75_000
    # A wake-up that lost its core is no reason to spin longer.
    pacer._learn(5_000_000)
    assert pacer.spin_ns == 75_000
