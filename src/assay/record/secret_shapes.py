"""What secrets look like wherever they stand: tokens with a maker's prefix, private keys, headers, addresses.

The patterns are plain ASCII, so that the same ones serve for text here and for bytes in the process that copies a
program's output (`process/output_mask.py`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

_SHORTEST = 8
_WORD = r"[A-Za-z0-9_-]"
_TOKENS = (
    ("ghp_ gho_ ghs_ ghu_ ghr_", r"[A-Za-z0-9]{20,255}"),  # GitHub
    ("github_pat_", r"[A-Za-z0-9_]{20,255}"),
    ("glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-", rf"{_WORD}{{16,255}}"),  # GitLab
    ("AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    ("LTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),  # Alibaba
    ("xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9-]{16,255}"),  # Slack
    ("sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"[A-Za-z0-9]{12,255}"),  # Stripe, Clerk
    ("whsec_", r"[A-Za-z0-9+/=]{16,255}"),
    ("sk- xai- pplx- tvly- nvapi- pypi-", rf"(?={_WORD}{{0,40}}\d){_WORD}{{20,512}}"),  # OpenAI, Anthropic, PyPI, …
    ("hf_ api_org_ gsk_", r"[A-Za-z0-9]{20,255}"),  # Hugging Face, Groq
    ("r8_ npm_ ntn_", r"[A-Za-z0-9]{30,60}"),  # Replicate, npm, Notion
    ("AIza", rf"{_WORD}{{35}}"),  # Google
    ("GOCSPX-", rf"{_WORD}{{20,60}}"),
    ("ya29.", r"[A-Za-z0-9_.-]{20,1024}"),
    ("SG.", rf"{_WORD}{{16,64}}\.{_WORD}{{16,64}}"),  # SendGrid
    ("key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),  # Mailgun
    (" ".join(f"SK{digit}" for digit in "0123456789abcdef"), r"[0-9a-f]{31}(?![A-Za-z0-9])"),  # Twilio
    ("dop_v1_ doo_v1_ dor_v1_ pul- rubygems_", r"[0-9a-f]{40,80}"),  # DigitalOcean, Pulumi, RubyGems
    ("dapi", r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),  # Databricks
    ("dckr_pat_ dckr_oat_ CFPAT- figd_ sq0atp- sq0csp- sbp_ sb_secret_ wandb_v1_", rf"{_WORD}{{20,120}}"),
    ("hvs. hvb. hvr.", rf"{_WORD}{{20,255}}"),  # Vault
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{20,80}"),  # Doppler
    ("glsa_ glc_ sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{20,400}"),  # Grafana, Sentry
    ("shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),  # Shopify
    ("lin_api_ lin_oauth_", r"[A-Za-z0-9]{20,80}"),  # Linear
    ("secret_", r"[A-Za-z0-9]{40,60}"),
    ("NRAK- AGE-SECRET-KEY-1", r"[A-Z0-9]{20,70}"),  # New Relic, age
    ("PMAK-", r"[a-f0-9-]{40,80}"),  # Postman
    ("ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{40,400}"),  # Atlassian
    ("tskey-", r"[A-Za-z0-9-]{16,80}"),  # Tailscale
    ("EAAB EAAC EAAD EAAG", r"[A-Za-z0-9]{60,400}"),  # Meta
    ("ops_eyJ", rf"{_WORD}{{40,2000}}"),  # 1Password
    ("eyJ", rf"{_WORD}{{13,8000}}\.{_WORD}{{8,16000}}(?:\.{_WORD}{{0,4000}}){{0,3}}"),  # JSON Web Token
)
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
TOKEN_STARTS = tuple(start for starts, _ in _TOKENS for start in starts.split())
"""What tokens begin with, for a search that is cheaper than a pattern's."""


def _any_token() -> str:
    kinds = (f"(?:{'|'.join(map(re.escape, starts.split()))}){rest}" for starts, rest in _TOKENS)
    return f"{_EDGE}(?:{'|'.join(kinds)})"


TOKEN = _any_token()
"""One pattern for all of them."""
_RUN = re.compile(r"[A-Za-z0-9_-]{16}")
"""What every token has somewhere: so many letters, digits, `_` and `-` in one piece."""

_NO_REFERENCE = r"(?!\*{3}|\$\{?\w+\}?|[<{]|%\w+%)"
_ASSIGNED = r"\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?"
_SCHEMES = "[Bb]earer|[Bb]asic|[Tt]oken|[Aa]pi-?[Kk]ey|[Dd]igest|[Nn]egotiate|GenieKey|Key|Bot|Splunk|SSWS"
_SCHEME = rf"(?:(?:{_SCHEMES})\s{{1,4}}|(?!(?:{_SCHEMES})(?:\s|\Z)))"
_BODY = r"(?:(?:\s|\\[nr])+(?:[A-Za-z0-9+/=]{20,4096}|[A-Z][A-Za-z-]{2,20}: [^\n]{0,100}))"
_LAST = r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{1,19}(?=\s|\\|-|\Z))"
ADDRESS = (
    r"://(?:[^\s/:@\"'<>\[\\]{0,256}:(?!\d{1,5}(?:[/?#,]|\Z))(?!\*{3}|\$\{?\w+\}?@|\{[\w:]*\}@|<)"
    r"(?P<secret>[^\s\"'<>@]{1,512}(?:@[^\s\"'<>@/?#,:]{1,512})*)"
    r"|(?<!ssh://)(?<!sftp://)(?<!scp://)"
    r"(?P<token>(?=[^\s@]{0,512}\d)[^\s/:@\"'<>\\*]{8,512}|[^\s/:@\"'<>\\*]{20,512}))"
    r"(?=@[\w\[.-])(?!@sha\d)"
)
"""User information in an address. A password may hold a slash, unless it would be a port: `//host:80/@scope`."""
MARKS = (
    ("uthorization", rf"uthorization{_ASSIGNED}{_SCHEME}{_NO_REFERENCE}(?P<secret>[^\s\"'\\,;<>]{{4,8192}})"),
    ("UTHORIZATION", rf"UTHORIZATION{_ASSIGNED}{_SCHEME}{_NO_REFERENCE}(?P<secret>[^\s\"'\\,;<>]{{4,8192}})"),
    ("Bearer ", r"Bearer {1,4}(?P<secret>(?=[A-Za-z._~+/-]{0,64}\d)[A-Za-z0-9._~+/=-]{12,8192})"),
    (
        "-----BEGIN ",
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            rf"(?P<secret>{_BODY}{{1,400}}{_LAST}?)(?:\s|\\[nr])*"
        ),
    ),
    (
        "Key",
        (
            r"(?:(?<=Account)|(?<=Access)|(?<=api)|(?<=Api)|(?<=API)|(?<=ecret)|(?<=rivate)|(?<=hared)|(?<=ubscription))Key"
            rf"{_ASSIGNED}{_NO_REFERENCE}(?P<secret>[A-Za-z0-9+/_.~%-]{{8,512}}={{0,2}})"
        ),
    ),
    ("secret_access_key", rf"secret_access_key{_ASSIGNED}(?P<secret>[A-Za-z0-9+/]{{16,128}})"),
    ("SECRET_ACCESS_KEY", rf"SECRET_ACCESS_KEY{_ASSIGNED}(?P<secret>[A-Za-z0-9+/]{{16,128}})"),
    (
        "assword",
        (
            r"(?<=[Pp])assword(?:=\\*[\"']?|\\*[\"']\s{0,3}[:=]\s{0,3}\\*[\"'])(?!(?:None|null|[Tt]rue|[Ff]alse)\b)"
            rf"{_NO_REFERENCE}(?P<secret>[^\s\"'\\,;&<>(){{}}\[\]]{{3,256}})"
        ),
    ),
    ("PASSWORD=", rf"PASSWORD={_NO_REFERENCE}(?P<secret>[^\s\"'\\,;&<>(){{}}\[\]]{{3,256}})"),
    ("Pwd=", rf"Pwd={_NO_REFERENCE}(?P<secret>[^\s\"'\\,;&<>]{{3,256}})"),
    ("&sig=", r"&sig=(?P<secret>[A-Za-z0-9%+/_=-]{8,512})"),
    ("?sig=", r"\?sig=(?P<secret>[A-Za-z0-9%+/_=-]{8,512})"),
    ("-Signature=", r"-Signature=(?P<secret>[A-Za-z0-9%+/_=-]{16,1024})"),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_+-]{10,255})"),
    ("/api/webhooks/", r"/api/webhooks/\d{5,25}/(?P<secret>[\w-]{20,128})"),
    (":AA", r"(?<=\d\d\d\d\d):(?P<secret>AA[\w-]{32,36})(?![A-Za-z0-9])"),  # Telegram, behind the bot's number
    ("webhook.office.com/", r"webhook\.office\.com/(?P<secret>[\w@/.-]{20,512})"),
)
"""Pairs of a text that is looked for and the pattern that must match there."""
_NAMES = {
    ":AA": "TOKEN",
    "&sig=": "SIG",
    "?sig=": "SIG",
    "-Signature=": "SIGNATURE",
    "-----BEGIN ": "PRIVATE_KEY",
    "Bearer ": "TOKEN",
}
_PASSWORDS = ("assword", "PASSWORD=", "Pwd=")


def find_shapes(text: str) -> Iterator[tuple[str, int, int]]:
    """Names for secrets that show by their shape, and where they begin and end."""
    if len(text) < _SHORTEST:
        return
    if "@" in text and "://" in text:
        for found in _compiled(ADDRESS).finditer(text):
            group = "secret" if found["secret"] else "token"
            yield ("PASSWORD" if found["secret"] else "TOKEN"), *found.span(group)
    for mark, pattern in MARKS:
        if mark in text:
            for found in _compiled(pattern).finditer(text):
                yield _name(mark), *found.span("secret")
    if _RUN.search(text):
        for found in _compiled(TOKEN).finditer(text):
            yield "TOKEN", *found.span()


def _name(mark: str) -> str:
    if mark in _PASSWORDS:
        return "PASSWORD"
    if "/" in mark:
        return "WEBHOOK"
    if mark.lower() == "uthorization":
        return "AUTHORIZATION"
    return _NAMES.get(mark, "KEY")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# Tells by its look whether a value could be a credential, or is a path, a number, an address or a plain word.


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that lists them."""
    return frozenset(text.split())


_COMMON = words_of(
    """
    true false yes no on off none null nil default auto always never localhost main master root admin user guest test
    tests testing example sample demo dev development prod production stage staging local latest unknown enabled
    disabled required optional password passwd secret token apikey api-key key keys basic bearer digest anonymous
    public private python linux postgres mysql redis changeme empty unset missing hidden masked redacted prompt stdin
    random generate inherit inherited strict warn error info debug undefined string object
    """
)
"""Words too common to be looked for wherever they appear, whoever uses them as a password."""
_NUMBER = re.compile(r"[\d.,:_/ +-]*\d[\d.,:_/ -]*(?:[a-z%]{1,3})?|0x[0-9a-f]{1,8}|[+-]?[\d.]+e[+-]?\d+", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\$\{?\w+(?::?[-+?=][^}]*)?\}?|\$\(.*\)|\$\{\{.*\}\}|%\w+%|\{+[\w.: -]*\}+|<[^<>]*>|\[[A-Z_]+\]"
    r"|\*+\w*\**|[xX.*-]+|env:\w+|@[\w./~-]+",
    re.DOTALL,
)
"""What stands for a value and isn't one: `$VAR`, `${VAR}`, `{placeholder}`, `<pad>`, `***`, `@file`."""
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|file://|~$")
_FILE = re.compile(r"[\w./-]*[A-Za-z_][\w-]*\.[A-Za-z][A-Za-z0-9]{0,4}|[\w-]+(?:/[\w.-]+)+")
_HOST = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?::\d+)?(?:/.*)?")
_EMAIL = re.compile(r"[\w.+-]+@[\w.-]+(?::[\w./~-]*)?")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_WITH_CREDENTIALS = re.compile(
    r"://[^/\s@]{3,}@|^[^/\s:@]+:[^\s@]+@[\w(]|^[\w.@+-]+:(?=\S*\d)(?=\S*[A-Za-z])[^\s:/]{6,}$|\b(?:\w*key|password|pwd|passwd|token|sig|secret)=[^;&\s]{4}",
    re.IGNORECASE,
)
_PIECES = re.compile(r"[^A-Za-z0-9]+")
_PLAIN_PIECE = re.compile(
    r"[A-Z]?[a-z]{0,15}\d{0,4}|[A-Z]{1,12}\d{0,4}|\d{1,4}[A-Za-z]{0,3}|[A-Z]?[a-z]{2,12}(?:[A-Z][a-z]{1,12}){0,3}\d{0,3}"
)
_PLAIN_LENGTH = 24
_LEAST = 8
_LEAST_PASSWORD = 4
_LEAST_DIGITS = 8


def is_trivial(value: str) -> bool:
    """Whether a value says nothing, whatever its name: empty, a flag, a small number, a reference, a path."""
    text = value.strip().strip("\"'")
    if not text or text.lower() in ("true", "false", "yes", "no", "on", "off", "none", "null", "nil", "unset"):
        return True
    return (text.isdigit() and len(text) < _LEAST_PASSWORD) or bool(_REFERENCE.fullmatch(text)) or is_path(text)


def is_searchable(value: str, shortest: int) -> bool:
    """Whether a value is so rare that it may be masked wherever it appears."""
    text = value.strip()
    if len(text) < shortest or text.lower() in _COMMON or _REFERENCE.fullmatch(text):
        return False
    return not _NUMBER.fullmatch(text) or sum(map(str.isdigit, text)) >= _LEAST_DIGITS


def is_password(value: str) -> bool:
    """Whether a person could have chosen the value as a password."""
    text = value.strip()
    if len(text) < _LEAST_PASSWORD or text.lower() in _COMMON or is_trivial(text):
        return False
    return not _NUMBER.fullmatch(text)


def looks_like_credential(value: str) -> bool:
    """Whether a value looks generated: long, in one piece, and neither words, a number, a path nor an address."""
    text = value.strip()
    if not is_password(text) or len(text) < _LEAST:
        return False
    if text.startswith(("{", "-----BEGIN")):
        return len(text) >= 2 * _LEAST
    if _WITH_CREDENTIALS.search(text):
        return True
    if any(map(str.isspace, text)) or text.startswith(("arn:", "--", "sha256:")):
        return False
    if _ADDRESS.match(text) or _EMAIL.fullmatch(text) or _HOST.fullmatch(text):
        return False
    return not _is_file(text) and not is_plain(text)


def is_plain(text: str) -> bool:
    """Whether a text is made of words and short numbers: `user_id`, `gpt-4o-mini`, `learningRate`, `us-east-1`."""
    pieces = [piece for piece in _PIECES.split(text) if piece]
    if not re.fullmatch(r"[\w.:,/-]+", text):
        return False
    return all(len(piece) <= _PLAIN_LENGTH and _PLAIN_PIECE.fullmatch(piece) for piece in pieces)


def is_path(text: str) -> bool:
    """Whether a text is a path: one that exists, or one whose parts are words."""
    if not _PATH.match(text) or "\n" in text:
        return False
    parts = [part for part in re.split(r"[\\/]", text.removeprefix("file://")) if part]
    return all(is_plain(part.strip("~.")) or not part.strip("~.") for part in parts) or _exists(text)


def _is_file(text: str) -> bool:
    return bool(_FILE.fullmatch(text)) and is_plain(text)


def _exists(text: str) -> bool:
    try:
        return os.path.lexists(text)
    except (OSError, ValueError):
        return False
