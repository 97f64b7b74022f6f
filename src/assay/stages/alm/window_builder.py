"""The window builder on one parsed recording, in plain Python. The rules are in docs/alm.md."""

from __future__ import annotations

from typing import Any

from assay.stages.alm.parameters import BuilderParameters, OverlapParameters
from assay.stages.alm.recording import FieldError, number

Json = dict[str, Any]
STATS = (
    ("lost_bw", 0), ("dur_lost_bw", 0.0), ("lost_sr", 0), ("dur_lost_sr", 0.0), ("lost_spk", 0), ("dur_lost_spk", 0.0),
    ("lost_win", 0), ("dur_lost_win", 0.0), ("lost_no_spkr", 0), ("dur_lost_no_spkr", 0.0), ("lost_next_seg_bm", 0),
    ("dur_lost_next_seg_bm", 0.0),
)  # fmt: skip


def build(entry: Json, parameters: BuilderParameters) -> Json:
    segments: list[Json] = entry["segments"]
    total: Any = 0
    for segment in segments:
        total = total + (segment["end"] - segment["start"])
    stats: Json = {
        "total_segments": len(segments),
        "total_dur": total,
        "swift_path": entry.get("swift_audio_filepath", ""),
        "audio_sample_rate": entry.get("audio_sample_rate", 0),
        **dict(STATS),
        "lost_win_full_data": [],
    }
    if entry.get("audio_sample_rate", 0) < parameters.min_sample_rate:
        stats["lost_sr"] = len(segments)
        stats["dur_lost_sr"] = total
        path = entry.get("audio_filepath")
        return {"audio_filepath": path, "windows": [], "stats": stats, "truncation_events": 0}
    run = _Run(segments, stats, parameters)
    for start in range(len(segments)):
        run.try_window(start)
    result = {key: value for key, value in entry.items() if key not in parameters.dropped_top_level}
    result["windows"] = run.windows
    result["stats"] = stats
    result["truncation_events"] = run.truncation_events
    return result


class _Run:
    """One recording's pass: every segment is tried as the start of a window."""

    def __init__(self, segments: list[Json], stats: Json, parameters: BuilderParameters) -> None:
        self.segments = segments
        self.stats = stats
        self.parameters = parameters
        self.kept = [_without(segment, parameters.dropped) for segment in segments]
        self.narrow = [_bandwidth(segment) < parameters.min_bandwidth for segment in segments]
        self.windows: list[Json] = []
        self.truncation_events = 0

    def try_window(self, i: int) -> None:
        first = self.segments[i]
        duration = first["end"] - first["start"]
        if self.narrow[i]:
            self._lose("bw", duration)
            return
        stop, joined, cut, speakers = self._extend(i)
        members = self.kept[i : i + joined] + ([] if cut is None else [_without(cut, self.parameters.dropped)])
        window_end = cut["end"] if cut is not None else (self.segments[i + joined - 1] if joined else first)["end"]
        length = window_end - first["start"]
        if not self.parameters.lo <= length <= self.parameters.hi or len(members) < 2:
            self._lose_window(i, stop, members, duration)
        elif not self.parameters.min_speakers <= len(speakers) <= self.parameters.max_speakers:
            self._lose("spk", duration)
        else:
            longest = sorted(speakers.values(), reverse=True)[:5]
            self.windows.append({"segments": members, "speaker_durations": longest + [0.0] * (5 - len(longest))})

    def _extend(self, i: int) -> tuple[int, int, Json | None, dict[str | int, Any]]:
        """Extends a window from segment `i`: where it stopped, how many whole segments joined, the cut copy if one
        joined, and the speakers' durations."""
        start = self.segments[i]["start"]
        hi = self.parameters.hi
        speakers: dict[str | int, Any] = {}
        k = i
        for k in range(i, len(self.segments)):
            segment = self.segments[k]
            if self.narrow[k]:
                return k, k - i, None, speakers
            if segment["end"] - start > hi:
                limit = start + hi
                if not self.parameters.truncation or segment["start"] >= limit:
                    return k, k - i, None, speakers
                self.truncation_events += 1
                part = cut_segment(segment, limit, k)
                return k, k - i, part if self._joins(part, speakers) else None, speakers
            if not self._joins(segment, speakers):
                return k, k - i, None, speakers
        return k, k - i + 1, None, speakers

    def _joins(self, segment: Json, speakers: dict[str | int, Any]) -> bool:
        speaker = segment.get("speaker")
        if speaker is None or speaker == "":
            return True
        if speaker == "no-speaker" or (speaker not in speakers and len(speakers) >= self.parameters.max_speakers):
            return False
        speakers[speaker] = speakers.get(speaker, 0) + (segment["end"] - segment["start"])
        return True

    def _lose(self, why: str, duration: Any) -> None:
        self.stats[f"lost_{why}"] += 1
        self.stats[f"dur_lost_{why}"] += duration

    def _lose_window(self, i: int, stop: int, members: list[Json], duration: Any) -> None:
        self._lose("win", duration)
        if self.segments[stop].get("speaker", "no-speaker") == "no-speaker":
            self._lose("no_spkr", duration)
        elif self.narrow[stop]:
            self._lose("next_seg_bm", duration)
        neighbours = {"next_seg": self.kept[stop], "prev_seg": self.kept[max(i - 1, 0)]}
        self.stats["lost_win_full_data"].append({"index": i, "window_segs": members, **neighbours})


def cut_segment(segment: Json, limit: float, index: int) -> Json:
    """A copy up to the last word that ends by `limit`. Only here are words looked at, and only here checked."""
    words = segment.get("words", [])
    if not isinstance(words, list):
        raise FieldError(f"segments[{index}].words", "should be a list")
    end = segment["start"]
    kept: list[Json] = []
    for position, word in enumerate(words):
        field = f"segments[{index}].words[{position}]"
        if not isinstance(word, dict):
            raise FieldError(field, "should be an object")
        if "end" not in word:
            raise FieldError(f"{field}.end", "missing")
        number(word["end"], f"{field}.end")
        if not isinstance(word.get("word"), str | None):
            raise FieldError(f"{field}.word", "should be a string")
        if word["end"] <= limit:
            kept.append(word)
            end = word["end"]
    spoken = " ".join(word["word"] for word in kept if word.get("word"))
    return {**segment, "words": kept, "text": spoken, "end": end}


def _bandwidth(segment: Json) -> Any:
    return segment.get("metrics", {}).get("bandwidth", 0)


def _without(segment: Json, dropped: frozenset[str]) -> Json:
    return {key: value for key, value in segment.items() if key not in dropped}


# The overlap filter on one recording, in plain Python. The rules are in docs/alm.md.

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
