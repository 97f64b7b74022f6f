"""What `assay plan` says: what would run, how often, how long at most, and what it must reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.report.quantity import duration


def places(results: object, artifacts: object) -> str:
    return f"results in {results}, large files in {artifacts}"


def entries_and_runs(entries: int, runs: int) -> str:
    one = "1 entry" if entries == 1 else f"{entries} entries"
    return f"{one}, {'1 run' if runs == 1 else f'{runs} runs'}"


def runs(repeat: int, warmup: int, retries: int, timeout_s: float) -> str:
    """`6 runs after 1 warm-up, each at most 10 min, tried up to 2 times more if it fails`."""
    many = "1 run" if repeat == 1 else f"{repeat} runs"
    before = "" if not warmup else f" after {warmup} warm-up{'' if warmup == 1 else 's'}"
    again = "" if not retries else f", tried {'once' if retries == 1 else f'up to {retries} times'} more if it fails"
    return f"{many}{before}, {'each ' if repeat + warmup > 1 else ''}at most {_limit(timeout_s)}{again}"


def after(entries: Sequence[str]) -> str:
    return f"after {', '.join(entries)}"


def cluster(given: Mapping[str, object]) -> str:
    return (
        f"with a Ray cluster: {', '.join(f'{name}={value}' for name, value in given.items()) or 'Ray’s own defaults'}"
    )


def requires(metric: str, bounds: Sequence[str]) -> str:
    """`requires rows_per_s ≥ 1`, `requires loss at most 1% worse than the recent level`."""
    return f"requires {metric} {', '.join(bounds)}"


def problem(what: str) -> str:
    return f"✗ {what}"


def sinks(names: Sequence[str]) -> str:
    return f"sinks: {', '.join(names) or 'none'}"


def warning(what: str) -> str:
    return f"warning: {what}"


def _limit(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 60 else duration(seconds)
