"""A stream's secrets are masked in whatever pieces it comes, with and without the compiled library."""

from __future__ import annotations

import random

import pytest
from secret_samples import INNOCENT_TEXTS, PEM, RANDOM, SECRET_TEXTS

from assay.native.text_search import Needles
from assay.process import output_mask
from assay.process.output_mask import OutputMask
from assay.record.secrets import Masker

MASKER = Masker({"A_TOKEN": "s3cr3t/with+signs", "B_TOKEN": "s3cr3t"})


@pytest.fixture(params=["plain", "compiled"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """From the first byte on with the compiled library, or never."""
    if request.param == "compiled":
        monkeypatch.setattr(output_mask, "_BULK", 1)
        Needles([b"abc"], [False], [0])  # it is there
    else:
        monkeypatch.setattr(output_mask, "_BULK", 1 << 60)
    return str(request.param)


def _masked(pieces: list[bytes]) -> bytes:
    mask = OutputMask(MASKER.replacements, MASKER.shapes)
    return b"".join([*map(mask.feed, pieces), mask.end()])


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("kind", SECRET_TEXTS)
@pytest.mark.parametrize("size", [1, 2, 7, 4096])
@pytest.mark.usefixtures("search")
def test_a_shape_is_masked_in_whatever_pieces_it_comes(kind: str, size: int) -> None:
    text, secret = SECRET_TEXTS[kind]
    text = PEM if kind == "a private key" else text.replace("VALUE", secret)
    for whole in (text, f"log: {text}\nnext line\n", f'{{"x": "{text}"}}'):
        masked = _masked(_cut(whole.encode(), size)).decode()
        assert [line for line in secret.splitlines() if line in masked] == []


@pytest.mark.parametrize("size", [1, 3, 50, 4096])
@pytest.mark.usefixtures("search")
def test_innocent_output_passes_byte_for_byte(size: int) -> None:
    data = "\n".join(INNOCENT_TEXTS).encode() + b"\n\xff\xfe\0 http://localhost:8080 S AK gh sk- Author"
    assert _masked(_cut(data, size)) == data


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.usefixtures("search")
def test_any_pieces_give_what_the_whole_gives(seed: int) -> None:
    draw = random.Random(seed)
    secrets = [text.replace("VALUE", secret) for text, secret in SECRET_TEXTS.values()] + [PEM]
    values = ["s3cr3t/with+signs", "s3cr3t", "s3cr3t/with", "s3s3cr3t"]
    words = [draw.choice([*secrets, *INNOCENT_TEXTS, *values, RANDOM[: draw.randrange(20)]]) for _ in range(30)]
    data = "".join(word + draw.choice([" ", "\n", "\n", "\t"]) for word in words).encode()
    cuts = sorted(draw.sample(range(len(data)), 40))
    pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert _masked(pieces) == _masked([data])


def test_both_searches_find_the_same() -> None:
    """Whatever the plain search lets through, so does the compiled one, and the other way round."""
    texts = [text.replace("VALUE", secret) for text, secret in SECRET_TEXTS.values()]
    data = "\n".join([*texts, PEM, *INNOCENT_TEXTS, "s3cr3t/with+signs", "xs3cr3tx"]).encode()
    compiled = OutputMask(MASKER.replacements, MASKER.shapes)
    compiled.feed(b"\n" * output_mask._BULK)
    plain = OutputMask(MASKER.replacements, MASKER.shapes)
    assert compiled.feed(data + b"\n") == plain.feed(data + b"\n")


def test_output_without_a_newline_is_not_held_back() -> None:
    mask = OutputMask(MASKER.replacements, MASKER.shapes)
    for text in (b"Loading weights ...", b"epoch 3 ", b"http://localhost:8080/ ", b"12%|##", b"task-12"):
        assert mask.feed(text) == text


@pytest.mark.parametrize("texts", [[b"abc", b"abcd", b"bcd"], [b"aaa"], [b"xyz", b"aab"]])
def test_the_compiled_search_finds_every_place(texts: list[bytes]) -> None:
    draw = random.Random(1)
    data = bytes(draw.choice(b"abcd") for _ in range(20_001))
    found = sorted(Needles(texts, [False] * len(texts), [0] * len(texts)).find(data))
    expected = [
        (at, number) for at in range(len(data)) for number, text in enumerate(texts) if data.startswith(text, at)
    ]
    assert found == sorted(expected)


def test_a_text_that_must_not_continue_a_word() -> None:
    assert Needles([b"sk-"], [True], [0]).find(b"task-1 sk-2 \\nsk-3 (sk-4") == [(7, 0), (14, 0), (20, 0)]


@pytest.mark.parametrize("text", [b"Password=Pwd=", b"eyJaaaaaaaaaaaaaaaa", b"-----BEGIN ", b"sk-", b"://a:b", b"@"])
def test_output_made_to_look_like_secrets_without_end_is_passed_on(text: bytes) -> None:
    mask = OutputMask(MASKER.replacements, MASKER.shapes)
    blocks = [mask.feed(text * 1000) for _ in range(20)]
    assert all(blocks[-10:])
