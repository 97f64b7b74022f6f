"""The overlap filter on one recording, in plain Python. The rules are in docs/alm.md."""

from __future__ import annotations

from typing import Any

from assay.stages.alm.parameters import OverlapParameters

Json = dict[str, Any]
Span = tuple[Any, Any]
"""(end, start), the order in which results hold it."""
WITHOUT_WINDOWS: tuple[tuple[str, Any], ...] = (
    ("filtered_windows", []), ("filtered_dur", 0.0), ("filtered_dur_list", []), ("total_dur_window", 0.0),
    ("total_dur_list_window", []), ("total_dur_list_window_timestamps", []), ("filtered", []),
    ("manifest_filepath", None), ("swift_filepath", None),
)  # fmt: skip


def filter_overlap(entry: Json, parameters: OverlapParameters) -> Json:
    windows = entry["windows"]
    result = dict(entry)
    if not windows:
        for key, value in WITHOUT_WINDOWS:
            result.setdefault(key, value)
        return result
    spans = [(window["segments"][-1]["end"], window["segments"][0]["start"]) for window in windows]
    kept = keep(spans, parameters)
    rounded = {(round(end, 6), round(start, 6)) for end, start in kept}
    durations = [end - start for end, start in kept]
    all_durations = [end - start for end, start in spans]
    result["total_dur_window"] = _sum(all_durations)
    result["total_dur_list_window"] = all_durations
    result["total_dur_list_window_timestamps"] = [list(span) for span in spans]
    result["filtered"] = [list(span) for span in kept]
    result["filtered_windows"] = [
        window
        for window, (end, start) in zip(windows, spans, strict=True)
        if (round(end, 6), round(start, 6)) in rounded
    ]
    result["filtered_dur"] = _sum(durations)
    result["filtered_dur_list"] = durations
    result["manifest_filepath"] = entry["stats"].get("manifest_path")
    result["swift_filepath"] = entry["stats"].get("swift_path")
    return result


def keep(spans: list[Span], parameters: OverlapParameters) -> list[Span]:
    ordered = sorted(spans, key=lambda span: (span[1], span[0]))
    dropped = [False] * len(ordered)
    for a in range(len(ordered)):
        if not dropped[a]:
            _walk(a, ordered, dropped, parameters)
    return [span for span, gone in zip(ordered, dropped, strict=True) if not gone]


def _walk(a: int, spans: list[Span], dropped: list[bool], parameters: OverlapParameters) -> None:
    end_a, start_a = spans[a]
    long_a = end_a - start_a
    for b in range(a + 1, len(spans)):
        if dropped[b]:
            continue
        end_b, start_b = spans[b]
        if start_b >= end_a:
            return
        long_b = end_b - start_b
        shorter = min(long_a, long_b)
        overlap = max(0, min(end_a, end_b) - max(start_a, start_b))
        ratio = overlap / shorter if shorter else 0
        if ratio < parameters.threshold:
            continue
        far_a, far_b = abs(long_a - parameters.target_duration), abs(long_b - parameters.target_duration)
        if far_a < far_b or (far_a == far_b and long_a >= long_b):
            dropped[b] = True
        else:
            dropped[a] = True
            return


def _sum(values: list[Any]) -> Any:
    """Plain addition from 0, left to right. `sum` compensates from Python 3.12 on, and results would differ."""
    total: Any = 0
    for value in values:
        total = total + value
    return total
