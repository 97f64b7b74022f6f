from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_tokenizer import made_tokenizer

from assay.errors import AssayError, DataError, UsageError
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.prompts import BLOCK_TOKENS, LoadPrompts, PromptFile
from assay.loadgen.serving.token_text import TokenizerText, TokenLengths, WordText

URL = "http://localhost:1"


def _prompts(**given: object) -> LoadPrompts:
    return LoadPrompts.of(LoadSettings(url=URL, **given))  # type: ignore[arg-type]


def _lines(tmp_path: Path, *documents: object, name: str = "prompts.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(document) for document in documents) + "\n")
    return path


def _drawn(words: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return TokenLengths.parse(words, "--prompt-tokens").draw(np.random.default_rng(0), 4000)


def test_lengths_of_each_kind(tmp_path: Path) -> None:
    assert set(_drawn("7").tolist()) == {7}
    assert set(_drawn("3-5").tolist()) == {3, 4, 5}
    normal = _drawn("normal:100,10")
    assert abs(normal.mean() - 100) < 1
    assert abs(normal.std() - 10) < 1
    assert _drawn("normal:2,10").min() == 1
    (tmp_path / "lengths").write_text("5\n\n9\n")
    assert set(_drawn(f"file:{tmp_path / 'lengths'}").tolist()) == {5, 9}


@pytest.mark.parametrize("words", ["", "0", "-3", "x", "9-2", "normal:5", "zipf:3,4", "1e12", "nan"])
def test_lengths_that_are_none(words: str) -> None:
    with pytest.raises(UsageError, match="--prompt-tokens"):
        TokenLengths.parse(words, "--prompt-tokens")


def test_a_file_of_lengths_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "lengths").write_text("5\nfive\n")
    with pytest.raises(DataError, match=r"lengths:2: b'five' is no length"):
        TokenLengths.parse(f"file:{tmp_path / 'lengths'}", "--max-tokens")


def test_made_up_prompts_have_their_lengths_share_beginnings_and_depend_on_the_seed() -> None:
    made = _prompts(requests=50, prompt_tokens="10-20", max_tokens="30-40", prefix_tokens=8, prefixes=2, seed=3)
    texts = [each.turns[0].text for each in made.conversations]
    assert len(set(texts)) == 50
    assert all(18 <= len(text.split()) <= 28 for text in texts)
    assert len({" ".join(text.split()[:8]) for text in texts}) == 2
    assert {each.turns[0].max_tokens for each in made.conversations} <= set(range(30, 41))
    again = _prompts(requests=50, prompt_tokens="10-20", max_tokens="30-40", prefix_tokens=8, prefixes=2, seed=3)
    assert [each.turns[0].text for each in again.conversations] == texts
    other = _prompts(requests=50, prompt_tokens="10-20", prefix_tokens=8, prefixes=2, seed=4)
    assert [each.turns[0].text for each in other.conversations] != texts


def test_made_up_conversations_have_turns_with_time_to_think() -> None:
    made = _prompts(requests=2, turns=3, think_s=0.5)
    assert [[turn.think_s for turn in each.turns] for each in made.conversations] == [[0.0, 0.5, 0.5]] * 2


def test_a_tokenizer_makes_and_counts_exact_lengths(tmp_path: Path) -> None:
    text = TokenizerText(made_tokenizer(tmp_path))
    rng = np.random.default_rng(1)
    made = [text.make(rng, length) for length in (1, 5, 64, 200)]
    assert text.count(made) == [1, 5, 64, 200]
    assert text.count([text.start(made[3], 20)]) == [20]


def test_what_is_no_tokenizer_is_said(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json: is no tokenizer"):
        TokenizerText(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        TokenizerText(tmp_path / "none")


def test_prompts_a_line(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("first\n\nsecond\n")
    made = _prompts(prompts=tmp_path / "p.txt")
    assert [each.turns[0].text for each in made.conversations] == ["first", "second"]
    assert made.times_ns is None


def test_json_lines_with_timestamps_are_a_trace(tmp_path: Path) -> None:
    path = _lines(
        tmp_path,
        {"timestamp": 12.5, "prompt": "b", "max_tokens": 7},
        {"timestamp": 10.0, "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]},
    )
    made = _prompts(prompts=path)
    assert made.times_ns is not None
    assert made.times_ns.tolist() == [0, 2_500_000_000]
    first, second = made.conversations
    assert (first.messages, first.turns[0].text) == (({"role": "system", "content": "s"},), "a")
    assert second.turns[0].max_tokens == 7


def test_a_mooncake_trace_shares_the_text_of_shared_blocks(tmp_path: Path) -> None:
    path = _lines(
        tmp_path,
        {"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [46, 47, 48]},
        {"timestamp": 250, "input_length": 1030, "output_length": 9, "hash_ids": [46, 47, 99]},
        {"timestamp": 250, "input_length": 700, "output_length": 9, "hash_ids": [1]},
    )
    made = _prompts(prompts=path)
    words = [each.turns[0].text.split() for each in made.conversations]
    assert [len(each) for each in words] == [1100, 1030, 700]
    assert words[0][: 2 * BLOCK_TOKENS] == words[1][: 2 * BLOCK_TOKENS]
    assert words[0][2 * BLOCK_TOKENS :][:6] != words[1][2 * BLOCK_TOKENS :]
    assert [each.turns[0].max_tokens for each in made.conversations] == [5, 9, 9]
    assert made.times_ns is not None
    assert made.times_ns.tolist() == [0, 250_000_000, 250_000_000]


SHAREGPT = {
    "id": "x",
    "conversations": [
        {"from": "system", "value": "be kind"},
        {"from": "human", "value": "hello"},
        {"from": "gpt", "value": "hello to you too"},
        {"from": "human", "value": "bye"},
    ],
}


def test_sharegpt_by_its_first_turn_or_whole(tmp_path: Path) -> None:
    path = tmp_path / "share.json"
    path.write_text(json.dumps([SHAREGPT]))
    [first] = _prompts(prompts=path).conversations
    assert [(turn.text, turn.max_tokens) for turn in first.turns] == [("hello", 4)]
    [whole] = _prompts(prompts=path, multi_turn=True, think_s=2.0).conversations
    assert [(turn.text, turn.answer, turn.think_s) for turn in whole.turns] == [
        ("hello", "hello to you too", 0.0),
        ("bye", None, 2.0),
    ]
    assert whole.messages == ({"role": "system", "content": "be kind"},)


BAD = {
    '{"prompt": 3}': "has none of prompt, messages",
    '{"prompt": "x", "timestamp": "now"}': "timestamp must be a number",
    '{"messages": [{"role": "assistant", "content": "x"}]}': "the last of role user",
    '{"conversations": [{"from": "gpt", "value": "x"}]}': "nothing in this conversation is from a human",
    '{"conversations": "x"}': "must be a list",
    '{"timestamp": 1, "input_length": -1, "output_length": 3, "hash_ids": []}': "input_length must be a number",
    '{"timestamp": 1, "input_length": 5, "output_length": 3, "hash_ids": ["a"]}': "hash_ids must be a list of numbers",
    "[1]": "must be a text or an object",
    "{half": "is not JSON",
}


@pytest.mark.parametrize("line", BAD)
def test_what_is_wrong_with_a_line_is_said_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"prompt": "good", "timestamp": 1}\n' + line + "\n")
    with pytest.raises(AssayError, match=r"p\.jsonl:2.*") as error:
        PromptFile(path).read(WordText(), 0, None)
    assert BAD[line] in str(error.value) or "JSON" in str(error.value)


def test_times_for_some_are_not_enough(tmp_path: Path) -> None:
    path = _lines(tmp_path, {"prompt": "a", "timestamp": 1}, {"prompt": "b"})
    with pytest.raises(DataError, match="prompt 2 has no timestamp"):
        _prompts(prompts=path)


def test_no_file_and_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file of prompts"):
        _prompts(prompts=tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError, match="there is no prompt in it"):
        _prompts(prompts=tmp_path / "empty.jsonl")
