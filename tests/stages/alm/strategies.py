"""Recordings of every kind the rules speak of, small enough that hypothesis can shrink them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

times = st.one_of(
    st.integers(-5, 300),
    st.decimals(-2, 300, places=3).map(float),
    st.decimals(0, 300, places=1).map(float),
    st.floats(0, 300, allow_nan=False),
)
texts = st.one_of(st.text(max_size=12), st.sampled_from(["", "so it is", 'a "quote"', "größer", "\u2028", "\x7f\x01"]))
speakers = st.sampled_from(
    ["a", "b", "c", "d", "e", "f", "no-speaker", "", None, "größer", "a\\", "speaker_10", 0, 1, 10**20]
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
)
words = st.fixed_dictionaries({"end": times}, optional={"word": st.none() | texts, "start": times, "p": scalars})


odd_metrics = st.fixed_dictionaries(
    {}, optional={"bandwidth": st.sampled_from([8000, 16000.5, 7999, 0, -1]), "x": scalars}
)


def _mostly(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Windows come about only where most segments are in order."""
    return st.integers(0, 19).flatmap(lambda n: usual if n else odd)


@st.composite
def segments(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Mostly one after the other, as in a conversation, so that windows come about."""
    now = draw(st.integers(0, 20))
    found: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 12))):
        length = draw(st.sampled_from([0, 1.5, 5, 10.25, 19.999, 20, 30.1, 0.1]))
        segment: dict[str, Any] = {"start": now, "end": now + length}
        if draw(st.integers(0, 9)) == 0:
            segment = {"start": draw(times), "end": draw(times)}
        optional = {
            "speaker": _mostly(st.sampled_from(["a", "b", "c"]), speakers),
            "metrics": _mostly(st.just({"bandwidth": 9000}), odd_metrics),
            "text": texts,
            "words": st.lists(words, max_size=4),
        }
        for name, strategy in optional.items():
            if draw(st.integers(0, 15)):
                segment[name] = draw(strategy)
        if draw(st.integers(0, 9)) == 0:
            segment[draw(texts)] = draw(values)
            segment["start"], segment["end"] = segment.get("start", 0), segment.get("end", 0)
        found.append(_valid(dict(draw(st.permutations(list(segment.items()))))))
        now = now + length + draw(st.sampled_from([0, 0, 0.1, -0.5, 2, 15]))
    return found


def _valid(segment: dict[str, Any]) -> dict[str, Any]:
    """A random key may have hit a name that has rules."""
    numbers = all(
        isinstance(segment[key], int | float) and not isinstance(segment[key], bool) for key in ("start", "end")
    )
    assert numbers
    return segment


@st.composite
def lines(draw: st.DrawFn) -> str:
    entry: dict[str, Any] = {"segments": draw(segments())}
    for name, strategy in {
        "audio_filepath": texts | st.none(),
        "audio_sample_rate": st.sampled_from([16000, 16000.0, 8000, 44100, 0]),
        "swift_audio_filepath": texts,
        "words": values,
        "note": values,
    }.items():
        if draw(st.integers(0, 3)):
            entry[name] = draw(strategy)
    if draw(st.integers(0, 30)) == 0:
        entry[draw(st.sampled_from(["windows", "stats", "filtered", "filtered_dur", "swift_filepath"]))] = draw(values)
    entry = dict(draw(st.permutations(list(entry.items()))))
    spacing = draw(st.sampled_from([None, None, None, (",", ":"), (" , ", " :  ")]))
    return json.dumps(entry, ensure_ascii=draw(st.sampled_from([False, False, True])), separators=spacing)


builders = st.fixed_dictionaries(
    {},
    optional={
        "target_window_duration": st.sampled_from([120.0, 60.0, 20.0, 33.3]),
        "tolerance": st.sampled_from([0.1, 0.0, 0.5, 0.05]),
        "min_bandwidth": st.sampled_from([8000, 0, 9000.5]),
        "min_sample_rate": st.sampled_from([16000, 0, 44100]),
        "min_speakers": st.integers(0, 3),
        "max_speakers": st.integers(0, 7),
        "truncation": st.booleans(),
        "drop_fields": st.sampled_from(["words", "", "text,words", "text", "speaker", "metrics,größer"]),
        "drop_fields_top_level": st.sampled_from(["words,segments", "words", "", "segments,note,audio_filepath"]),
    },
)
overlaps = st.fixed_dictionaries(
    {},
    optional={
        "overlap_percentage": st.sampled_from([0, 50, 100, 12.5]),
        "target_duration": st.sampled_from([120.0, 20.0]),
    },
)
