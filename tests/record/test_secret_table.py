"""Real-world secrets are masked, and what looks like them is not; the tables are `secret_samples`."""

from __future__ import annotations

import pytest
from secret_samples import (
    INNOCENT_ARGUMENTS,
    INNOCENT_TEXTS,
    INNOCENT_VARIABLES,
    PEM,
    RANDOM,
    SECRET_ARGUMENTS,
    SECRET_SHAPES,
    SECRET_TEXTS,
    SECRET_VARIABLES,
)

from assay.record.secrets import Masker, secrets_of_words


def _shown(secret: str, text: str) -> list[str]:
    """Lines of the secret that can be read in the text."""
    return [line for line in secret.splitlines() if line in text and "-----" not in line]


@pytest.mark.parametrize(("name", "value"), SECRET_VARIABLES.items(), ids=SECRET_VARIABLES)
def test_a_secret_variable_is_masked_by_value_and_where_it_is_given(name: str, value: str) -> None:
    secret = value.partition("://")[2].rpartition("@")[0].rpartition("app:")[2].rpartition("user:")[2] or value
    secret = secret if name not in ("SENTRY_DSN", "SLACK_WEBHOOK_URL", "AZURE_STORAGE_CONNECTION_STRING") else value
    assert secret not in Masker({name: value}).text(f"got {value} and {secret}!")
    assert secret not in str(Masker({}).value({name: value}))
    assert secret not in " ".join(Masker({}).words([f"{name}={value}"]))


@pytest.mark.parametrize("kind", SECRET_TEXTS)
def test_a_secret_is_masked_by_its_shape(kind: str) -> None:
    text, secret = SECRET_TEXTS[kind]
    text = text.replace("VALUE", secret)
    if kind == "a private key":
        text = PEM
    for around in (text, f'before "{text}" after', f"a=1 {text}\nnext"):
        assert _shown(secret, Masker({}).text(around)) == []


@pytest.mark.parametrize("kind", SECRET_ARGUMENTS)
@pytest.mark.parametrize("value", [RANDOM, "hunter22"])
def test_a_secret_is_masked_among_arguments(kind: str, value: str) -> None:
    words = [word.replace("VALUE", value) for word in SECRET_ARGUMENTS[kind]]
    masker = Masker({}, ((name, found) for name, found in _found(words)))
    assert value not in " ".join(masker.words(words))
    assert value not in masker.text(f"got {value}")


def _found(words: list[str]) -> list[tuple[str, str]]:
    return list(secrets_of_words(words))


@pytest.mark.parametrize(("name", "value"), INNOCENT_VARIABLES.items(), ids=INNOCENT_VARIABLES)
def test_an_innocent_variable_is_left_alone(name: str, value: str) -> None:
    assert Masker({name: value}).text(f"got {value}!") == f"got {value}!"
    assert Masker({}).value({name: value}) == {name: value}
    assert Masker({}).words([f"{name}={value}"]) == [f"{name}={value}"]


@pytest.mark.parametrize("text", INNOCENT_TEXTS)
def test_an_innocent_text_is_left_alone(text: str) -> None:
    assert Masker({"A_TEXT": text}).text(f"{text}\nnext") == f"{text}\nnext"


@pytest.mark.parametrize("words", INNOCENT_ARGUMENTS, ids=" ".join)
def test_innocent_arguments_are_left_alone(words: list[str]) -> None:
    assert Masker({}, _found(words)).words(words) == words


@pytest.mark.parametrize(
    "value", ["1", "true", "none", "default", "localhost", "main", "12345", "postgres", "password"]
)
def test_a_common_value_of_a_secret_is_not_masked_everywhere(value: str) -> None:
    assert Masker({"DB_PASSWORD": value}).text(f"a {value} in a sentence") == f"a {value} in a sentence"


def test_the_table_is_as_long_as_promised() -> None:
    assert len(SECRET_VARIABLES) + len(SECRET_SHAPES) + len(SECRET_ARGUMENTS) >= 60
    assert len(INNOCENT_VARIABLES) + len(INNOCENT_TEXTS) + len(INNOCENT_ARGUMENTS) >= 60
