"""Tells the name of a secret (`PGPASSWORD`, `myApiKey`, `--db-password`) from a name that only looks like one
(`MONKEY`, `max_tokens`, `TOKEN_FILE`).

A name is split into words: at separators, digits and capitals first, then compounds such as `MYAPIKEY` with the help of
a small dictionary. Strong words (password, secret, token) make a secret of any value that isn't trivial. Weak words
(key, auth, pat) need a value that looks like a credential.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from assay.record.secret_shapes import is_password, is_trivial, looks_like_credential, words_of


class Secrecy(IntEnum):
    """How much a name alone says about its value."""

    NONE = 0
    WEAK = 1
    """A secret if the value looks like a credential."""
    PASSWORD = 2
    """A secret if the value could be a password a person chose."""
    STRONG = 3


_STRONG = words_of(
    """
    password passwords passwd passwort passphrase passcode pswd passwrd secret secrets credential credentials cred
    creds token apikey apikeys webhook webhooks authorization bearer
    """
)
_STRONG_KEYS = words_of(
    """
    api apis access secret private priv auth authentication signing encryption decryption master account shared storage
    hmac
    """
)
"""Words that make `key` behind them a strong word."""
_WEAK = words_of(
    """
    key keys pat pats auth oauth dsn tokens tok cookie cookies jwt jwts salt pepper sas otp totp connstr license
    licence netrc dockerconfigjson pem
    """
)
_PASSWORDS = words_of("pass pwd pw userpwd")
_SECRET = _STRONG | _WEAK | _PASSWORDS

_ABOUT = words_of(
    """
    count counts limit limits length len size sizes budget rate ratio env file files filename path paths dir directory
    folder name names type types kind format column col field index idx ttl expiry expires expiration timeout lifetime
    seconds min max version policy rotation enabled disabled required optional prompt manager helper endpoint url uri
    urls host port usage used cost price stdin stdout arn algorithm alg regex pattern method mode provider backend hint
    strength age rules validator validators hasher hashers reset ref reference status scope scopes issuer audience
    header prefix suffix label title description ids position positions embedding embeddings dim dims level throughput
    latency prob probs logprobs loss accuracy speed window second sec ms source location cmd command script class sock
    socket separator delimiter order number num total bytes generation sampling parallelism dropout threshold store
    storage_class cache bucket region domain iterations rounds set_by changed expired valid present missing ok error
    errors warning
    """
)
"""Last words of names that describe a secret and do not hold it: `TOKEN_FILE`, `password-length`."""
_STILL = words_of(
    """
    value values base64 b64 hex pem json data content contents text txt raw string str secret prod production staging
    dev development test testing live new old current previous backup primary secondary main default encoded enc
    encrypted plain plaintext ci admin root read write readonly rw ro config cfg pass password token info blob
    connection a b x v
    """
)
"""Words that may follow a weak word: `DD_APP_KEY_PROD`, `DOCKER_AUTH_CONFIG`. Any other changes what is meant."""
_COUNTED = words_of(
    """
    max min num n nr number total avg mean median sum count per prompt completion output input generated cached
    reasoning special pad padding eos bos unk mask masked sep cls stop start end begin image audio video vision speech
    first last next prev time inter added additional new sampled draft speculative accepted word sub byte char vocab
    decoder encoder thinking context extra target source ignore ignored separator dummy unused text many
    """
)
"""Words before `token` that speak of a language model's."""
_OTHER_KEYS = words_of(
    """
    primary foreign sort sorting cache caching partition hash index row group grouping groupby join lookup object unique
    shard sharding range public pub map dict idempotency config feature metric metrics label column order
    ordering dedup document record field tag hot short arrow function natural composite candidate surrogate distribution
    clustering translation issue project parent child json yaml data dictionary merge bucket entity attribute on by
    reduce correlation known counter max min num n count start end stop time first last next prev previous
    """
)
"""Words before `key` that speak of data."""
_OTHER_PASSES = words_of(
    """
    by com sur tres en under over first second third last final single multi one two three forward backward fwd bwd num
    n low high band all test tests did should must build render dry per each every ask max min old boarding optimizer
    compiler train training eval warmup one-shot prefill decode data checks check will can
    """
)
"""Words before `pass` and `pwd` that speak of something else."""
_AFFIXES = words_of(
    """
    my our your user usr admin root db database sql pg pgsql postgres postgresql mysql mariadb mssql oracle mongo
    mongodb redis rediscli rabbit rabbitmq amqp kafka elastic elasticsearch es cassandra clickhouse snowflake neo
    influx influxdb ssh sftp ftp smtp imap mail email ldap proxy http https web vnc rdp vpn wifi sudo su git github gh
    gitlab gl bitbucket npm pypi twine uv pip docker registry quay harbor artifactory nexus jfrog kube k8s helm vault
    consul nomad aws gcp google azure az openai anthropic claude cohere mistral groq hf huggingface hugging face wandb
    mlflow comet neptune kaggle dd datadog sentry slack discord telegram twilio sendgrid stripe paypal jira confluence
    atlassian app application api apis access secret private auth oauth signing sign encryption decryption encrypt
    master account shared storage service svc client server bot login session refresh id csrf xsrf jwt bearer basic
    deploy deployment license licence write read ingest personal ci cd build job run runner hub cloud test prod dev
    stage staging new old backup default local remote internal external main site key keys pass word token tokens
    password passwd pwd cookie sa superuser owner guest store truststore keystore cert tls ssl pem rsa ed aes hmac dsa
    gpg pgp age connection conn string strings
    """
)
"""Words that stand beside secret words in compounds: `SSHPASS`, `MYAPIKEY`."""
_SERVICES = words_of(
    """
    ssh smtp imap mail proxy wifi vpn github gh gitlab gl bitbucket npm pypi twine docker quay harbor
    artifactory nexus jfrog vault aws gcp google azure az openai anthropic claude cohere mistral groq hf huggingface
    hugging wandb mlflow comet neptune kaggle dd datadog sentry slack discord telegram twilio sendgrid stripe paypal
    jira confluence atlassian rediscli
    """
)
"""Words that make `key`, `pat` or `auth` behind them a credential, even if the value looks like a word."""
_DICTIONARY = _SECRET | _AFFIXES | _COUNTED | _OTHER_KEYS | _OTHER_PASSES | _ABOUT | _STILL
_LONGEST = max(map(len, _DICTIONARY))
_ENDINGS = ("password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "apikey", "credentials")
"""Strong words that no other English word ends in: whatever is before them, they mean what they say."""
_APART = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]+")
_NAME_LIMIT = 200


def is_secret(name: str, value: str | None = None) -> bool:
    """Whether `name` holds a secret. Without a value only strong names do."""
    level = secrecy(name)
    if level is Secrecy.NONE:
        return False
    if value is None:
        return level is Secrecy.STRONG
    if level is Secrecy.STRONG:
        return not is_trivial(value)
    return is_password(value) if level is Secrecy.PASSWORD else looks_like_credential(value)


@lru_cache(maxsize=4096)
def secrecy(name: str) -> Secrecy:
    """What the words of a name say about its value."""
    name = name[-_NAME_LIMIT:]
    by_capitals = [word.lower() for word in _APART.split(name) if word]
    found = _of_words(_segment_all(by_capitals))
    whole = [word.lower() for word in _WORD.findall(name)]
    if found is None or (found is Secrecy.NONE and not _STRONG.isdisjoint(whole)):  # `APIkey`, `passWord`
        found = _of_words(_segment_all(whole)) if whole != by_capitals else None
    return found or Secrecy.NONE


def _of_words(words: list[str]) -> Secrecy | None:
    """None where there is no secret word at all."""
    found: Secrecy | None = None
    for at, word in enumerate(words):
        if word in _SECRET or (word in ("string", "strings") and at and words[at - 1] in ("connection", "conn")):
            found = max(found or Secrecy.NONE, _of_word(word, words[:at], words[at + 1 :]))
    return found


def _of_word(word: str, before: list[str], after: list[str]) -> Secrecy:
    last = before[-1] if before else ""
    if word in ("key", "keys") and last in _STRONG_KEYS:
        return Secrecy.NONE if _is_about(after) else Secrecy.STRONG
    if word == "token" and any(item in _COUNTED for item in before):
        return Secrecy.NONE if _is_about(after) or "per" in before or "id" in after else Secrecy.WEAK
    if word in _STRONG:
        if word.startswith("webhook") and after and after[-1] in ("url", "urls", "uri", "endpoint"):
            return Secrecy.STRONG
        if word == "token" and after and after[-1] == "id":
            return Secrecy.WEAK
        return Secrecy.NONE if _is_about(after) else Secrecy.STRONG
    if not all(item in _STILL or item in _SECRET for item in after) or _is_about(after):
        return Secrecy.NONE
    if word in _PASSWORDS:
        if last in _OTHER_PASSES:
            return Secrecy.NONE
        return Secrecy.STRONG if before and word != "pw" else Secrecy.PASSWORD if before else Secrecy.WEAK
    if word == "tokens" and any(item in _COUNTED for item in before):
        return Secrecy.NONE
    if word in ("key", "keys") and last in _OTHER_KEYS:
        return Secrecy.NONE
    chosen = word in ("key", "keys", "pat", "auth") and not _SERVICES.isdisjoint(before)
    return Secrecy.PASSWORD if chosen or (word == "tokens" and not before and not after) else Secrecy.WEAK


def _is_about(after: list[str]) -> bool:
    return bool(after) and (after[-1] in _ABOUT or "per" in after)


def _segment_all(words: list[str]) -> list[str]:
    return [part for word in words for part in _segment(word)]


def _segment(word: str) -> list[str]:
    """A compound's words, as few as possible; the word itself where it is none."""
    if word in _DICTIONARY or len(word) > 60:
        return [word]
    best: list[list[str] | None] = [[], *([None] * len(word))]
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - _LONGEST), end):
            before = best[start]
            if before is None or word[start:end] not in _DICTIONARY or (end - start < 2):
                continue
            if (known := best[end]) is None or len(before) + 1 < len(known):
                best[end] = [*before, word[start:end]]
    if found := best[-1]:
        return found
    ending = next((item for item in _ENDINGS if word.endswith(item)), None)
    return [word.removesuffix(ending), ending] if ending else [word]
