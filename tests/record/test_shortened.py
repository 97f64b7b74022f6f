from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.files.json_text import shorten


@given(st.text(max_size=300), st.integers(20, 200))
def test_what_fits_stays_and_what_does_not_keeps_both_ends(text: str, most: int) -> None:
    short = shorten(text, most)
    assert len(short) <= most
    if len(text) <= most:
        assert short == text
    else:
        head, tail = short.split(" … ", 1) if text.count(" … ") == 0 else ("", "")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_words_are_cut_between_and_a_path_keeps_its_file() -> None:
    words = "the cluster could not be reached because nobody answered on port 6379 of the machine named head-node-7"
    assert shorten(words, 70) == "the cluster could not be reached because … named head-node-7"
    path = f"No such file: {'/data' * 40}/part-00007.jsonl"
    assert shorten(path, 80).startswith("No such file: /data/data")
    assert shorten(path, 80).endswith("/part-00007.jsonl")
