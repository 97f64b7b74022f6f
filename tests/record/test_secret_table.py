"""Names and shapes of secrets as real tools have them, and innocent ones that look alike."""

from __future__ import annotations

import pytest

from assay.record.secrecy.secrets import Masker

RANDOM = "a8F3kQ9zX2pL7mN4Yw6RtB1vC5dE0gHj"
HEX = "0f3a9c81d27be6450f3a9c81d27be645"
UUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
PEM = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{RANDOM * 2}\n{RANDOM * 2}\nQyNTUx==\n-----END OPENSSH PRIVATE KEY-----"
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{RANDOM}"

SECRET_VARIABLES = {
    "PGPASSWORD": "correct horse",
    "MYSQL_PWD": "hunter22",
    "SECRETKEY": "plainwords",
    "MYAPIKEY": "abcdefgh",
    "APITOKEN": RANDOM,
    "ACCESSTOKEN": RANDOM,
    "PASSWORD1": "hunter22",
    "TOKENS": f"{RANDOM},{HEX}",
    "SSHPASS": "hunter22",
    "GITHUB_PAT": RANDOM,
    "AZURE_DEVOPS_EXT_PAT": RANDOM.lower(),
    "KAGGLE_KEY": HEX,
    "DD_APP_KEY": HEX,
    "OPENAI_KEY": RANDOM,
    "AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={RANDOM}==",
    "DOCKER_AUTH_CONFIG": '{"auths": {"registry.example.com": {"auth": "dXNlcjpodW50ZXIyMg=="}}}',
    "SENTRY_DSN": f"https://{HEX}@o42.ingest.sentry.io/17",
    "REDISCLI_AUTH": "hunter22!",
    "UV_INDEX_URL": f"https://{RANDOM}@pypi.example.com/simple",
    "PIP_EXTRA_INDEX_URL": "https://user:hunter22@pypi.example.com/simple",
    "DATABASE_URL": "postgresql://app:hun/ter22@db:5432/app",
    "AWS_SECRET_ACCESS_KEY": "/wJalrXUtnFEMI/K7MDENG+bPxRfiCYzEXAMPLEK",
    "AWS_SESSION_TOKEN": RANDOM,
    "HF_TOKEN": RANDOM,
    "HUGGINGFACEHUB_API_TOKEN": RANDOM,
    "WANDB_API_KEY": HEX,
    "ANTHROPIC_API_KEY": RANDOM,
    "SLACK_WEBHOOK_URL": f"https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{RANDOM[:24]}",
    "NPM_TOKEN": RANDOM,
    "TWINE_PASSWORD": "hunter22",
    "CI_JOB_TOKEN": RANDOM,
    "VAULT_TOKEN": RANDOM,
    "GOOGLE_CREDENTIALS": '{"type": "service_account", "private_key_id": "abc"}',
    "DJANGO_SECRET_KEY": "django-insecure-abc",
    "JWT_SECRET": "notverysecret",
    "clientSecret": "notverysecret",
    "dbPassword": "hunter22",
    "RABBITMQ_DEFAULT_PASS": "hunter22",
    "SMTP_PASS": "hunter22",
    "ADMIN_PW": "hunter22",
    "KEYSTORE_PASSPHRASE": "hunter22",
    "SNOWFLAKE_PRIVATE_KEY": PEM,
    "ENCRYPTIONKEY": RANDOM,
    "BASIC_AUTH": "user:hunter22",
}
SECRET_SHAPES = {
    "a GitHub token": f"ghp_{RANDOM}abcd",
    "a GitHub fine-grained token": f"github_pat_11{RANDOM[:20]}_{RANDOM}{RANDOM[:20]}",
    "a GitHub app's token": f"ghs_{RANDOM}abcd",
    "a GitLab token": f"glpat-{RANDOM[:20]}",
    "an AWS key id": "AKIAIOSFODNN7EXAMPLE",
    "a temporary AWS key id": "ASIAIOSFODNN7EXAMPLE",
    "a Slack bot's token": f"xoxb-123456789012-123456789012-{RANDOM[:24]}",
    "a Stripe key": f"sk_live_{RANDOM}",
    "a restricted Stripe key": f"rk_live_{RANDOM}",
    "an OpenAI key": f"sk-{RANDOM}{RANDOM[:16]}",
    "an OpenAI project key": f"sk-proj-{RANDOM}-{RANDOM}",
    "an Anthropic key": f"sk-ant-api03-{RANDOM}-{RANDOM}AA",
    "a Hugging Face token": f"hf_{RANDOM}ab",
    "a Google key": f"AIza{RANDOM}abc",
    "a PyPI token": f"pypi-AgEIcHlwaS5vcmc{RANDOM}",
    "an npm token": f"npm_{RANDOM}abcd",
    "a SendGrid key": f"SG.{RANDOM[:22]}.{RANDOM}abcdefghijk",
    "a Twilio key": f"SK{HEX}",
    "a DigitalOcean token": f"dop_v1_{HEX}{HEX}",
    "a Databricks token": f"dapi{HEX}",
    "a Vault token": f"hvs.{RANDOM}",
    "a JSON Web Token": JWT,
    "a private key": PEM.split("-----")[2].strip(),
    "the password of an address": "postgres://app:VALUE@db/app",
    "a password with a slash": "postgres://app:pa/VALUE@db/app",
    "a token before a host": "https://VALUE@example.com/repo.git",
    "a header of a request": "Authorization: Bearer VALUE",
    "a basic header": "authorization: Basic VALUE",
    "a GitHub header": "Authorization: token VALUE",
    "a header in JSON": '{"Authorization": "Bearer VALUE"}',
    "a header in JSON in JSON": r'"{\"Authorization\": \"Bearer VALUE\"}"',
    "an account's key": "AccountName=a;AccountKey=VALUE==;EndpointSuffix=core.windows.net",
    "a shared access key": "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=VALUE",
    "a password of a connection": "Server=db;User Id=app;Password=VALUE;",
    "a short password of a connection": "Server=db;Uid=app;Pwd=VALUE;",
    "a signed address": "https://a.blob.core.windows.net/c?sv=2024&sig=VALUE",
    "a Slack webhook": "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/VALUE",
    "AWS's secret by its name": "aws_secret_access_key = VALUE",
}
"""VALUE stands for the secret; without it the whole text is one."""
SECRET_ARGUMENTS = {
    "--dbpassword": ["--dbpassword", "VALUE"],
    "--api-key=": ["--api-key=VALUE"],
    "--set": ["--set", "entries.a.env.MYAPIKEY=VALUE"],
    "curl -u": ["curl", "-u", "me:VALUE"],
    "curl -H": ["curl", "-H", "X-Api-Key: VALUE"],
    "JSON": ["--body", '{"user": "me", "password": "VALUE"}'],
    "JSON in a shell": ["sh", "-c", """curl -d '{"apiKey": "VALUE", "rows": 3}' http://localhost"""],
    "escaped JSON in a shell": ["sh", "-c", r'curl -d "{\"client_secret\": \"VALUE\"}" http://localhost'],
    "an assignment in a shell": ["sh", "-c", "PGPASSWORD=VALUE psql -c 'select 1'"],
    "an option in a shell": ["sh", "-c", "train --token VALUE --rows 5"],
    "sshpass": ["sshpass", "-p", "VALUE", "ssh", "host"],
    "mysql": ["sh", "-c", "mysql -u root -pVALUE db"],
    "a keyword of Python": ["python", "-c", "connect(password='VALUE')"],
    ".netrc": ["sh", "-c", "echo machine example.com login me password VALUE > .netrc"],
    "AccountKey=": ["--connection", "AccountName=a;AccountKey=VALUE"],
}
INNOCENT_VARIABLES = {
    "TOKENIZERS_PARALLELISM": "false",
    "MONKEY": RANDOM,
    "MONKEYPATCH": RANDOM,
    "KEYBOARD": RANDOM,
    "KEYMAP": RANDOM,
    "HOCKEY": RANDOM,
    "TURKEY": RANDOM,
    "AUTHOR": "Ada Lovelace",
    "GIT_AUTHOR_NAME": "Ada Lovelace",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "COMPASS": RANDOM,
    "PASSENGER": RANDOM,
    "BYPASS": RANDOM,
    "TOKENIZER": "bert-base-uncased",
    "MAX_TOKENS": "4096",
    "NUM_TOKENS": "512",
    "MAX_NEW_TOKENS": "unlimited-by-default",
    "tokens_per_s": "12345.678",
    "TOKEN_COUNT": "1234567890",
    "TOKEN_LIMIT": "1234567890",
    "PAD_TOKEN": "<|endoftext|>",
    "EOS_TOKEN_ID": "50256",
    "KEY_COLUMN": RANDOM,
    "PRIMARY_KEY": "customer_id",
    "SORT_KEY": "created_at_desc",
    "CACHE_KEY": HEX,
    "PARTITION_KEY": UUID,
    "PUBLIC_KEY": RANDOM,
    "SECRETARY": RANDOM,
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PATTERN": RANDOM,
    "PATCH": RANDOM,
    "DISPATCH": RANDOM,
    "PWD": "/home/ada/work",
    "OLDPWD": "/home/ada",
    "SSH_AUTH_SOCK": "/tmp/ssh-XXXX/agent.1234",
    "SSH_ASKPASS": "/usr/lib/ssh/askpass",
    "AUTH_TYPE": "kerberos-v5-only",
    "REQUIRE_AUTH": "true",
    "GOOGLE_APPLICATION_CREDENTIALS": "/home/ada/key.json",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/secrets/token",
    "PASSWORD_LENGTH": "12345678",
    "PASSWORD_FILE": "/run/secrets/db",
    "USE_AUTH_TOKEN": "false",
    "FIRST_PASS": "checkpoint-2026-11-18",
    "REGISTRY_KEY": "software",
    "LICENSE": "Apache-2.0",
}
INNOCENT_TEXTS = (
    "git SHA 0f3a9c81d27be6450f3a9c81d27be6450f3a9c81",
    f"run {UUID} finished",
    f"sha256:{HEX}{HEX}",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    f"wrote model-{HEX}.safetensors",
    "ada@example.com",
    "scp results ada@host.example.com:/data/results",
    "git@github.com:org/repo.git",
    "ssh://git@github.com/org/repo.git",
    "https://cdn.example.com/@scope/pkg@1.2.3/index.js",
    "http://localhost:3000/@vite/client",
    "http://[::1]:8080/a@b",
    "https://github.com/org/repo/blob/main/src/keys.py",
    '{"tokens": 512, "tokens_per_s": 1234.5, "max_tokens": 4096}',
    "prompt_tokens=512 completion_tokens=128 total_tokens=640",
    "time_to_first_token: 0.123 s, inter_token_latency: 0.011 s",
    "The token is a word; the secret of a good soup is salt.",
    "task-12 disk-usage risk-assessment-of-the-second-quarter-report",
    "sk-learn-contrib-imbalanced-learning-pipelines",
    "key-value-store-benchmark-with-many-words",
    "Bearer of good news, author: Ada",
    "Basic usage: see the documentation",
    "sorted(rows, key=len)",
    "password: required",
    "BertForSequenceClassificationWithPooling",
    "/opt/conda/lib/python3.11/site-packages/keyring/backends/SecretService.py",
    "2026-11-18T10:00:00.123456+00:00",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db",
    "-----BEGIN CERTIFICATE-----",
    "loss=0.123 lr=3e-4 step=1200 epoch=3",
)
INNOCENT_ARGUMENTS = (
    ["--max-tokens", "512"],
    ["--tokenizer", "bert-base-uncased"],
    ["--sort-key", "created_at"],
    ["--key", "user_id"],
    ["--api-key-env", "MY_VARIABLE"],
    ["--password-file", "/run/secrets/db"],
    ["--token", "$HF_TOKEN"],
    ["sh", "-c", 'login --password "$DB_PASSWORD"'],
    ["python", "-c", "token = os.environ['HF_TOKEN']; login(token=token)"],
    ["--auth", "none"],
    ["--use-token", "--rows", "5"],
    ["--pass", "2"],
    ["--cache-key", HEX],
)
SECRET_TEXTS = {kind: (text, RANDOM if "VALUE" in text else text) for kind, text in SECRET_SHAPES.items()}


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
    from assay.record.secrecy.secret_words import secrets_of_words

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
