"""Lines of an ALM manifest: the compiled pass against plain Python, byte for byte of what they write."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.native.fuzz.target import Target
from tests.stages.alm.curation import curate_block, output_of

from assay.benchmarks.data.alm import SHAPES, recordings
from assay.errors import DataError

HEAD = 4
_DURATIONS, _TOLERANCES, _OVERLAPS = (120.0, 20.0, 33.3, 1e6), (0.1, 0.0, 0.5, 0.05), (50, 0, 100, 12.5)
_DROPS = ("words", "", "text,words", "metrics,speaker")
_TOPS = ("segments,words", "words", "", "audio_filepath,note,segments")


class AlmTarget(Target):
    name = "alm"
    longest = 8192
    words = (
        '"segments": [', '{"start": ', ', "end": ', ', "speaker": "', '"no-speaker"', ', "metrics": {"bandwidth": ',
        ', "words": [{"word": "', ', "text": "', '"audio_sample_rate": ', '"audio_filepath": "', "16000",
        "null", "true",
        "\\u00e9", "\\ud83d\\ude00", "\\ud800", "1e300", "-0.0", "0.1", "9007199254740993", "}]}\\n", "[[[[", "e-5",
    )  # fmt: skip

    def seeds(self) -> Iterator[bytes]:
        for number, line in enumerate(recordings(12, SHAPES["odd"], 1)):
            entry = json.loads(line)
            entry["segments"] = entry["segments"][:6]
            for style in ({}, {"separators": (",", ":")}, {"ensure_ascii": True}):
                head = bytes((number * 5 % 64, 8 + 5 + 16 * (number % 3), number % 16, number % 4))
                yield head + json.dumps(entry, **{"ensure_ascii": False, **style}).encode() + b"\n"

    def difference(self, data: bytes) -> str | None:
        if len(data) < HEAD:
            return None
        duration, speakers, drops, least = data[:HEAD]
        target = _DURATIONS[duration & 3]
        builder = {
            "target_window_duration": target,
            "tolerance": _TOLERANCES[duration >> 2 & 3],
            "min_sample_rate": 16000 if least & 1 else 0,
            "min_bandwidth": 8000 if least & 2 else 0,
            "min_speakers": speakers >> 4 & 3,
            "max_speakers": speakers & 7,
            "truncation": bool(speakers >> 3 & 1),
            "drop_fields": _DROPS[drops >> 2 & 3],
            "drop_fields_top_level": _TOPS[drops & 3],
        }
        overlap = {"overlap_percentage": _OVERLAPS[duration >> 4 & 3], "target_duration": 120.0}
        answers = []
        for native in (True, False):
            try:
                batch = curate_block(data[HEAD:], builder, overlap, native, skip=True)
                answers.append((output_of(batch), batch.bad))
            except DataError as error:
                answers.append((str(error).encode(), ()))
        return None if answers[0] == answers[1] else f"compiled: {answers[0]!r}\nplain: {answers[1]!r}"


TARGET = AlmTarget()
