from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.stages.pytorch.device import library
from assay.stages.pytorch.tiny_model import SIZES, SPECIAL, VOCABULARY, tiny_language_model, tiny_rows, tiny_tokenizer

CHAT = [{"role": "system", "content": "You add."}, {"role": "user", "content": "What is 3 plus 4, naïve friend?"}]


def digest(model) -> str:
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()


def test_the_tokenizer_has_its_500_tokens_and_gives_back_every_text():
    tokenizer = tiny_tokenizer()
    assert len(tokenizer) == VOCABULARY == 500
    assert [tokenizer.convert_tokens_to_ids(token) for token in SPECIAL] == [497, 498, 499]
    text = tokenizer.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    assert text == (
        "<|im_start|>system\nYou add.<|im_end|>\n<|im_start|>user\nWhat is 3 plus 4, naïve friend?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert tokenizer.decode(tokenizer(text).input_ids) == text


def test_the_model_is_the_seeds_and_leaves_the_numbers_that_others_draw_alone():
    torch = library("torch", "llm")
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first = tiny_language_model()
    assert torch.equal(torch.rand(3), expected)
    assert sum(p.numel() for p in first.parameters()) == 112_448
    assert digest(first) == digest(tiny_language_model(0)) != digest(tiny_language_model(1))


def test_another_process_makes_the_same_tokenizer():
    code = (
        "import hashlib; from assay.stages.pytorch.tiny_model import tiny_tokenizer;"
        "print(hashlib.sha256(tiny_tokenizer().backend_tokenizer.to_str().encode()).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hashlib.sha256(tiny_tokenizer().backend_tokenizer.to_str().encode()).hexdigest()


def test_the_command_writes_a_folder_that_transformers_and_torchtune_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["data", "tiny-model", str(tmp_path / "tiny")]) == 0
    assert "files, 0.5 MB" in capsys.readouterr().out
    transformers = library("transformers", "llm")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "tiny")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "tiny")
    assert digest(model) == digest(tiny_language_model())
    text = tiny_tokenizer().apply_chat_template(CHAT, tokenize=False)
    assert tokenizer.apply_chat_template(CHAT, tokenize=False) == text
    theirs = library("torchtune.models.qwen2", "torchtune").Qwen2Tokenizer(
        str(tmp_path / "tiny/vocab.json"),
        str(tmp_path / "tiny/merges.txt"),
        special_tokens={token: 497 + at for at, token in enumerate(SPECIAL)},
    )
    assert theirs.encode(text, add_bos=False, add_eos=False) == tokenizer(text).input_ids


def test_rows_are_the_same_at_every_call_and_differ_between_splits():
    for split, size in SIZES.items():
        assert len(tiny_rows(split)) == size
        assert tiny_rows(split) == tiny_rows(split)
    assert tiny_rows("validation") != tiny_rows("test")
    assert any(row.input == "" for row in tiny_rows())
