from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from assay.process.spawn import Pump
from assay.record import Fingerprint, Outcome, Record, SessionFolder
from assay.record.secrets import Masker, is_secret, secrets_of_words
from assay.report.run_folder import RunFolder

VALUE = "s3cr3t/with+signs"


@pytest.mark.parametrize("name", ["API_KEY", "apiKey", "accessToken", "db-password", "DB_PASS", "x_pwd", "HF_TOKEN"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["max_tokens", "tokenizer", "token_limit", "PWD", "first_passes", "sort_key", "pass"])
def test_names_that_are_none(name: str) -> None:
    assert not is_secret(name)


def test_secrets_among_words() -> None:
    words = ["--password", "one-two", "--api-key=three", "--use-token", "--rows", "5", "a.b.DB_PASSWORD=four",
             "-H", "Authorization: Bearer five", "-u", "me:six", "x://u:seven@h/?x=1&access_token=eight"]  # fmt: skip
    assert [value for _, value in secrets_of_words(words)] == [
        "one-two", "three", "four", "five", "six", "seven", "eight",
    ]  # fmt: skip


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xyz"])
def test_within_base64_wherever_it_falls(before: str, after: str) -> None:
    written = base64.b64encode((before + VALUE + after).encode()).decode()
    masked = Masker({"A_TOKEN": VALUE}).text(written)
    assert "***A_TOKEN_ENCODED***" in masked
    assert len(masked.replace("***A_TOKEN_ENCODED***", "")) <= len(written) - len(VALUE)


def test_names_that_become_the_same_are_all_kept() -> None:
    masker = Masker({"A_TOKEN": VALUE, "B_TOKEN": VALUE})
    masked = masker.value({f"x {VALUE}": 1, "x ***A_TOKEN***": 2, "x s3cr3t%2Fwith%2Bsigns": 3})
    assert masked == {"x ***A_TOKEN*** (2)": 1, "x ***A_TOKEN***": 2, "x ***A_TOKEN_ENCODED***": 3}


def test_an_unknown_password_in_an_address_is_hidden_whatever_is_in_it() -> None:
    assert Masker({}).text("x://u:p*a*ss@h") == "x://u:***@h"


def test_every_line_of_a_secret_is_one() -> None:
    key = "-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----\n"
    assert Masker({"PRIVATE_KEY": key}).text("got mnopqrstuvwx") == "got ***PRIVATE_KEY_ENCODED***"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_output_is_masked_in_whatever_pieces_it_comes(tmp_path: Path, size: int) -> None:
    text = f"a {VALUE} s3cr s3s3cr3t/with+signs{VALUE} s3cr3t/with".encode()
    with (tmp_path / "log").open("wb") as log:
        pump = Pump([log.fileno()], Masker({"A_TOKEN": VALUE}).replacements)
        for at in range(0, len(text), size):
            os.write(pump.write_end, text[at : at + size])
            pump.copy()
        pump.close_write_end()
        pump.copy()
    assert (tmp_path / "log").read_bytes() == b"a ***A_TOKEN*** s3cr s3***A_TOKEN******A_TOKEN*** s3cr3t/with"


def test_a_log_from_before_it_was_masked_is_shown_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", VALUE)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "stdouterr.log").write_text(f"said {VALUE}\n")
    record = Record("a", "s", "s/a/run-01", Outcome.FAILED, "2026-01-01T00:00:00+00:00", Fingerprint("a", "", "", ""))
    assert RunFolder(SessionFolder(tmp_path), record).log_tail() == "said ***A_TOKEN***"
