from __future__ import annotations

from dataclasses import dataclass
from html import escape
from random import Random

from assay.benchmarks.data.languages import LANGUAGES, Language
from assay.benchmarks.data.prose import Prose

DECLARED = ("header", "meta", "both", "nowhere")
_SCRIPT = "window.dataLayer=window.dataLayer||[];function track(a,b){{dataLayer.push([a,b,{}])}}track('page','view');"
_STYLE = ".hero-{0}{{display:flex;margin:0 auto;max-width:{0}px}}.nav a{{color:#{0:06x};padding:.5em}}"


@dataclass(frozen=True)
class HtmlPage:
    """An HTML page and what a reader of it should find."""

    url: str
    language: str
    encoding: str
    declared: str
    title: str
    paragraphs: tuple[str, ...]
    body: bytes
    """The page in its encoding."""

    @property
    def content_type(self) -> str:
        return f"text/html; charset={self.encoding}" if self.declared in ("header", "both") else "text/html"


def make_page(rng: Random, number: int) -> HtmlPage:
    language = rng.choice(LANGUAGES)
    encoding = rng.choice(language.encodings)
    # Detection without any declaration is guesswork for the small encodings; a real page without one is UTF-8.
    declared = rng.choice(DECLARED) if encoding == "utf-8" else rng.choice(DECLARED[:3])
    prose = Prose(language, rng)
    host = f"{prose.name().lower()}-{prose.name().lower()}.example"
    title = " ".join((prose.name(), *prose.words(4)))
    paragraphs = tuple(_in_encoding(text, encoding) for text in prose.document(rng.randint(3, 14)))
    title = _in_encoding(title, encoding)
    html = _markup(rng, prose, language, encoding, declared, title, paragraphs)
    body = html.encode(encoding, "xmlcharrefreplace")
    url = f"https://www.{host}/{prose.name().lower()}/{number}"
    return HtmlPage(url, language.code, encoding, declared, title, paragraphs, body)


def _in_encoding(text: str, encoding: str) -> str:
    return text.encode(encoding, "ignore").decode(encoding)


def _markup(
    rng: Random, prose: Prose, language: Language, encoding: str, declared: str, title: str, paragraphs: tuple[str, ...]
) -> str:
    meta = f'<meta charset="{encoding}">' if declared in ("meta", "both") else ""
    links = "".join(f'<li><a href="/{prose.name().lower()}">{escape(prose.name())}</a></li>' for _ in range(6))
    teasers = "".join(
        f'<div class="teaser card"><a href="/a/{rng.randrange(10**6)}"><img src="/i/{n}.jpg" alt="">'
        f"<span>{escape(prose.name())}</span></a></div>"
        for n in range(rng.randint(2, 8))
    )
    text = "\n".join(f"<p>{_inline(rng, paragraph)}</p>" for paragraph in paragraphs)
    return (
        f'<!DOCTYPE html>\n<html lang="{language.code}"><head>{meta}<title>{escape(title)}</title>\n'
        f"<style>{_STYLE.format(rng.randint(300, 1200))}</style>\n"
        f"<script>{_SCRIPT.format(rng.randrange(10**9))}</script></head>\n"
        f'<body><header class="site-header"><nav class="nav"><ul>{links}</ul></nav></header>\n'
        f'<main><article class="post"><h1>{escape(title)}</h1>\n{text}\n</article></main>\n'
        f'<aside class="sidebar">{teasers}</aside>\n'
        f'<footer class="footer"><p>&copy; {rng.randint(1999, 2026)} {escape(prose.name())}</p>'
        f"<script>{_SCRIPT.format(rng.randrange(10**9))}</script></footer></body></html>\n"
    )


def _inline(rng: Random, paragraph: str) -> str:
    """Mark-up inside the text, which an extractor must take away without tearing words apart."""
    words = [escape(word, quote=False) for word in paragraph.split(" ")]
    if len(words) > 8:
        at = rng.randrange(len(words) - 3)
        words[at] = f"<b>{words[at]}</b>"
        words[at + 2] = f'<a href="/ref/{rng.randrange(999)}">{words[at + 2]}</a>'
    return " ".join(words)
