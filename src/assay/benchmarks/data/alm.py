"""Audio manifests: conversations cut into segments, with the faults that real ones have."""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SPEECH = (
    "so we were thinking about the second part of this and then maybe come back to what you said earlier because it "
    "really depends on how people use it in practice you know I mean there is always some question of whether numbers "
    "hold up when somebody else tries them which is fair enough but yes right okay sure that makes sense to me too "
    "although última größer naïve 東京 straße are spelled with care"
)
WORDS = tuple(SPEECH.split())


@dataclass(frozen=True)
class ManifestShape:
    segments: int = 54
    spread: float = 0.15
    """Recordings differ in length by this share."""
    segment_s: float = 5.0
    words_per_s: float = 0.8
    word_timings: bool = False
    speakers: int = 5
    low_rate: float = 0.02
    """Share of recordings below the least sample rate."""
    low_bandwidth: float = 0.01
    no_speaker: float = 0.004
    odd: float = 0.0
    """Share of recordings with what real manifests hold now and then: whole numbers for times, exponents, escapes,
    missing or empty speakers, missing metrics, times that go back, odd spacing, repeated keys."""


_HOUR = ManifestShape(segments=600, spread=0.0, segment_s=6.0, words_per_s=2.2, word_timings=True)
_ODD = ManifestShape(segments=16, spread=0.9, segment_s=14.0, words_per_s=0.5, word_timings=True, odd=1.0)
SHAPES = {
    "short": ManifestShape(),
    "long": replace(_HOUR, low_rate=0.0),
    "odd": replace(_ODD, low_bandwidth=0.03, no_speaker=0.03),
}


def recordings(count: int, shape: ManifestShape, seed: int) -> Iterator[str]:
    """One manifest line each, without its line end."""
    for index in range(count):
        rng = random.Random(f"alm/{seed}/{index}")
        odd = rng.random() < shape.odd
        entry = _recording(rng, index, shape, odd)
        yield _odd_line(rng, entry) if odd else json.dumps(entry, ensure_ascii=False)


def write_manifest(path: Path, count: int, shape: ManifestShape, seed: int) -> int:
    """Returns the file's size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        for line in recordings(count, shape, seed):
            out.write(line + "\n")
    return path.stat().st_size


def with_changes(shape: ManifestShape, changes: dict[str, Any]) -> ManifestShape:
    return replace(shape, **{name: value for name, value in changes.items() if value is not None})


def _recording(rng: random.Random, index: int, shape: ManifestShape, odd: bool) -> dict[str, Any]:
    count = max(0 if odd else 1, round(shape.segments * rng.uniform(1 - shape.spread, 1 + shape.spread)))
    rate = (
        rng.choice((8000, 11025)) if rng.random() < shape.low_rate else rng.choice((16000, 16000, 22050, 44100, 48000))
    )
    entry: dict[str, Any] = {"audio_filepath": f"/data/audio/{index % 100:02d}/{rng.getrandbits(40):010x}.wav"}
    if rng.random() < 0.5:
        entry["swift_audio_filepath"] = f"swift://audio/{rng.getrandbits(40):010x}.wav"
    entry |= {"audio_sample_rate": rate, "duration": 0.0, "lang": rng.choice(("en", "de", "es"))}
    entry["segments"] = _segments(rng, count, shape, odd)
    entry["duration"] = entry["segments"][-1]["end"] if entry["segments"] else 0.0
    if odd and rng.random() < 0.05:
        del entry["audio_sample_rate"]
    return entry


def _segments(rng: random.Random, count: int, shape: ManifestShape, odd: bool) -> list[dict[str, Any]]:
    cast = [f"speaker_{n}" for n in range(rng.randint(2, max(shape.speakers, 2) + (3 if odd else 0)))]
    segments: list[dict[str, Any]] = []
    now = rng.uniform(0, 3)
    speaker = rng.choice(cast)
    for _ in range(count):
        if rng.random() < 0.6:
            speaker = rng.choice(cast)
        length = max(0.3, rng.gauss(shape.segment_s, shape.segment_s / 3))
        segments.append(_segment(rng, now, now + length, speaker, shape))
        if odd:
            _make_odd(rng, segments[-1])
        now += length + max(-0.3, rng.gauss(0.05, 0.2))
        if odd and rng.random() < 0.05:
            now -= rng.uniform(0, 20)
    return segments


def _segment(rng: random.Random, start: float, end: float, speaker: str, shape: ManifestShape) -> dict[str, Any]:
    spoken = rng.choices(WORDS, k=max(1, int((end - start) * shape.words_per_s)))
    bandwidth = rng.choice((3400, 7000)) if rng.random() < shape.low_bandwidth else rng.randint(8000, 22050)
    segment: dict[str, Any] = {
        "start": round(start, 3),
        "end": round(end, 3),
        "speaker": "no-speaker" if rng.random() < shape.no_speaker else speaker,
        "text": " ".join(spoken),
        "metrics": {"bandwidth": bandwidth},
    }
    if shape.word_timings:
        step = (end - start) / len(spoken)
        segment["words"] = [
            {"word": word, "start": round(start + n * step, 3), "end": round(start + (n + 0.9) * step, 3)}
            for n, word in enumerate(spoken)
        ]
    return segment


def _make_odd(rng: random.Random, segment: dict[str, Any]) -> None:
    choice = rng.randrange(40)
    if choice == 0:
        segment["start"], segment["end"] = int(segment["start"]), int(segment["end"]) + 1
    elif choice == 1:
        segment["end"] = int(segment["end"])
    elif choice == 2:
        del segment["speaker"]
    elif choice == 3:
        segment["speaker"] = rng.choice((None, ""))
    elif choice == 4:
        del segment["metrics"]
    elif choice == 5:
        segment["metrics"] = {}
    elif choice == 6:
        segment.pop("words", None)
    elif choice == 7:
        segment["end"] = segment["start"]
    elif choice == 8:
        segment["text"] = 'says "so\\" \n\t\x01 or ' + chr(0x1F600)
    elif choice == 9:
        segment["start"] += rng.random() * 1e-7
    elif choice == 10:
        segment["note"] = {"by": None, "sure": True, "marks": [1, -2.5, 1e-7, {}, []]}
    elif choice == 11:
        del segment["text"]
    elif choice == 12 and segment.get("words"):
        segment["words"][0]["word"] = rng.choice(("", None, 'qu"ote', "é\\"))
    elif choice == 13 and segment.get("words"):
        segment["words"].reverse()
    elif choice == 14:
        segment["metrics"] = {"bandwidth": rng.choice((7999.5, 8000.0, 1e4))}


def _odd_line(rng: random.Random, entry: dict[str, Any]) -> str:
    how = rng.randrange(12)
    if how == 0:
        return json.dumps(entry)
    if how == 1:
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    if how == 2:
        return "  " + json.dumps(entry, ensure_ascii=False) + "\t\r"
    text = json.dumps(entry, ensure_ascii=False)
    if how == 3:
        return text.replace('"start": ', '"start": 0, "start": ', 1)
    if how == 4:
        return text.replace('"speaker"', '"sp\\u0065aker"', 1)
    if how == 5:
        return json.dumps({**entry, "stats": {"manifest_path": "m"}, "filtered": 1}, ensure_ascii=False)
    return text


_CHANGES = ("segments", "segment_s", "speakers", "low_rate", "low_bandwidth", "no_speaker", "odd")

_SHAPES = (
    "short: about 6 KB each; long: an hour with word timings; odd: all that is odd and still valid (default: short)"
)


def arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("output", type=Path, help="manifest to write, JSONL")
    add("--recordings", type=int, default=1000, help="default: 1000")
    add("--shape", choices=list(SHAPES), default="short", help=_SHAPES)
    add("--segments", type=int, help="segments of a recording, on average")
    add("--segment-s", type=float, help="seconds of a segment, on average")
    add("--speakers", type=int, help="most speakers of a recording")
    add("--word-timings", action="store_true", default=None, help="time every word")
    for name in ("low-rate", "low-bandwidth", "no-speaker", "odd"):
        add(f"--{name}", type=float, metavar="SHARE", help=f"share with that fault: {name.replace('-', ' ')}")


def generate(args: Namespace) -> int:
    changes = {name: getattr(args, name) for name in (*_CHANGES, "word_timings")}
    shape = with_changes(SHAPES[args.shape], changes)
    size = write_manifest(args.output, args.recordings, shape, args.seed)
    print(f"{args.output}: {args.recordings} recordings, {size / 1e6:.1f} MB")
    return 0
