"""specs of the two ALM stages, read slowly: every window is grown from scratch, everything is recomputed, nothing is
shared with the product's code. What it says is right."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def curate(line: str, builder: Json | None = None, overlap: Json | None = None) -> Json:
    return filter_windows(build_windows(json.loads(line), **(builder or {})), **(overlap or {}))


def curated_line(line: str, builder: Json | None = None, overlap: Json | None = None) -> bytes:
    return json.dumps(curate(line, builder, overlap), ensure_ascii=False).encode() + b"\n"


def build_windows(
    entry: Json,
    target_window_duration: float = 120.0,
    tolerance: float = 0.1,
    min_sample_rate: float = 16000,
    min_bandwidth: float = 8000,
    min_speakers: int = 2,
    max_speakers: int = 5,
    truncation: bool = True,
    drop_fields: str = "words",
    drop_fields_top_level: str = "words,segments",
) -> Json:
    tol = target_window_duration * tolerance
    lo, hi = target_window_duration - tol, target_window_duration + tol
    dropped, dropped_top = set(drop_fields.split(",")) - {""}, set(drop_fields_top_level.split(",")) - {""}
    segments = entry["segments"]
    n = len(segments)

    def bandwidth(i: int) -> Any:
        return segments[i].get("metrics", {}).get("bandwidth", 0)

    def shown(segment: Json) -> Json:
        return {key: value for key, value in segment.items() if key not in dropped}

    def own(i: int) -> Any:
        return segments[i]["end"] - segments[i]["start"]

    total: Any = 0
    for i in range(n):
        total = total + own(i)
    stats: Json = {
        "total_segments": n,
        "total_dur": total,
        "swift_path": entry.get("swift_audio_filepath", ""),
        "audio_sample_rate": entry.get("audio_sample_rate", 0),
    }
    for why in ("bw", "sr", "spk", "win", "no_spkr", "next_seg_bm"):
        stats[f"lost_{why}"] = 0
        stats[f"dur_lost_{why}"] = 0.0
    stats["lost_win_full_data"] = []

    def lose(why: str, i: int) -> None:
        stats[f"lost_{why}"] += 1
        stats[f"dur_lost_{why}"] += own(i)

    if entry.get("audio_sample_rate", 0) < min_sample_rate:
        stats["lost_sr"], stats["dur_lost_sr"] = n, total
        return {
            "audio_filepath": entry.get("audio_filepath"),
            "windows": [],
            "stats": stats,
            "truncation_events": 0,
        }

    windows, truncation_events = [], 0
    for i in range(n):
        if bandwidth(i) < min_bandwidth:
            lose("bw", i)
            continue
        window: list[Json] = []
        start, window_end, stop = segments[i]["start"], segments[i]["end"], n - 1
        for k in range(i, n):
            segment = segments[k]
            if bandwidth(k) < min_bandwidth:
                stop = k
                break
            too_long = segment["end"] - start > hi
            candidate = segment
            if too_long:
                cut = start + hi
                if not truncation or segment["start"] >= cut:
                    stop = k
                    break
                truncation_events += 1
                candidate = cut_copy(segment, cut)
            speakers = speaker_durations([*window, candidate])
            if len(speakers) > max_speakers or "no-speaker" in speakers:
                stop = k
                break
            window.append(candidate)
            window_end = candidate["end"]
            if too_long:
                stop = k
                break
        duration = window_end - start
        if not lo <= duration <= hi or len(window) < 2:
            lose("win", i)
            if segments[stop].get("speaker", "no-speaker") == "no-speaker":
                lose("no_spkr", i)
            elif bandwidth(stop) < min_bandwidth:
                lose("next_seg_bm", i)
            stats["lost_win_full_data"].append(
                {
                    "index": i,
                    "window_segs": [shown(segment) for segment in window],
                    "next_seg": shown(segments[stop]),
                    "prev_seg": shown(segments[max(i - 1, 0)]),
                }
            )
            continue
        speakers = speaker_durations(window)
        if not min_speakers <= len(speakers) <= max_speakers:
            lose("spk", i)
            continue
        durations = sorted(speakers.values(), reverse=True)[:5]
        durations += [0.0] * (5 - len(durations))
        windows.append({"segments": [shown(segment) for segment in window], "speaker_durations": durations})
    result = {key: value for key, value in entry.items() if key not in dropped_top}
    result["windows"] = windows
    result["stats"] = stats
    result["truncation_events"] = truncation_events
    return result


def cut_copy(segment: Json, cut: float) -> Json:
    part = dict(segment)
    kept = [word for word in segment.get("words", []) if word["end"] <= cut]
    part["words"] = kept
    part["text"] = " ".join(word["word"] for word in kept if word.get("word"))
    part["end"] = kept[-1]["end"] if kept else segment["start"]
    return part


def speaker_durations(window: list[Json]) -> Json:
    durations: Json = {}
    for segment in window:
        # 0 is a speaker like any other integer: the reference, which asks for truth, would leave it out.
        if segment.get("speaker") not in (None, ""):
            durations[segment["speaker"]] = durations.get(segment["speaker"], 0) + (segment["end"] - segment["start"])
    return durations


def filter_windows(entry: Json, overlap_percentage: float = 0, target_duration: float = 120.0) -> Json:
    threshold = overlap_percentage / 100
    result = dict(entry)
    if not entry["windows"]:
        for key, value in (
            ("filtered_windows", []),
            ("filtered_dur", 0.0),
            ("filtered_dur_list", []),
            ("total_dur_window", 0.0),
            ("total_dur_list_window", []),
            ("total_dur_list_window_timestamps", []),
            ("filtered", []),
            ("manifest_filepath", None),
            ("swift_filepath", None),
        ):
            if key not in result:
                result[key] = value
        return result
    spans = [(window["segments"][-1]["end"], window["segments"][0]["start"]) for window in entry["windows"]]
    ordered = sorted(spans, key=lambda span: (span[1], span[0]))
    gone: set[int] = set()
    for a in range(len(ordered)):
        if a in gone:
            continue
        for b in range(a + 1, len(ordered)):
            if b in gone:
                continue
            (end_a, start_a), (end_b, start_b) = ordered[a], ordered[b]
            if start_b >= end_a:
                break
            long_a, long_b = end_a - start_a, end_b - start_b
            shorter = min(long_a, long_b)
            shared = max(0, min(end_a, end_b) - max(start_a, start_b))
            if (shared / shorter if shorter else 0) < threshold:
                continue
            far_a, far_b = abs(long_a - target_duration), abs(long_b - target_duration)
            if far_a < far_b or (far_a == far_b and long_a >= long_b):
                gone.add(b)
            else:
                gone.add(a)
                break
    kept = [span for at, span in enumerate(ordered) if at not in gone]
    rounded = {(round(end, 6), round(start, 6)) for end, start in kept}
    total: Any = 0
    for end, start in spans:
        total = total + (end - start)
    filtered: Any = 0
    for end, start in kept:
        filtered = filtered + (end - start)
    result["total_dur_window"] = total
    result["total_dur_list_window"] = [end - start for end, start in spans]
    result["total_dur_list_window_timestamps"] = spans
    result["filtered"] = kept
    result["filtered_windows"] = [
        window
        for window, (end, start) in zip(entry["windows"], spans, strict=True)
        if (round(end, 6), round(start, 6)) in rounded
    ]
    result["filtered_dur"] = filtered
    result["filtered_dur_list"] = [end - start for end, start in kept]
    result["manifest_filepath"] = entry["stats"].get("manifest_path")
    result["swift_filepath"] = entry["stats"].get("swift_path")
    return result
