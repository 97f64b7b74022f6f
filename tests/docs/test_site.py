"""The documentation as a site: built with warnings as errors, no link leads nowhere, no other host is asked."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tools.site.build import LIBRARIES, build

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ASKING = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
"""What a browser fetches by itself; a link of `<a>` only when somebody clicks it."""


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if tag == "a" and name == "href" and value:
                self.links.append(value)
            if (tag, name) in ASKING and value:
                self.fetched.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert (LIBRARIES / "mkdocs").is_dir(), "make setup puts MkDocs there"
    built = build(tmp_path_factory.mktemp("site"))
    assert built is not None, "MkDocs warned of something: see what it said"
    return built


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_the_site_has_its_parts(site: Path) -> None:
    wanted = (
        "index tutorial howto/pipeline reference/yaml reference/commands explain/statistics troubleshooting glossary"
    )
    assert [name for name in wanted.split() if not (site / f"{name}.html").is_file()] == []
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    assert "(reference/yaml.md)" in listed
    assert "(tutorial.md): In about an hour" in listed


def test_every_link_and_anchor_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif to.fragment and target in pages and unquote(to.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(site)}: {link}: no such place on that page")
    assert broken == []


def test_no_page_asks_another_host(site: Path, pages: dict[Path, Page]) -> None:
    outside = {
        f"{path.relative_to(site)}: {address}"
        for path, page in pages.items()
        for address in page.fetched
        if urlsplit(address).scheme in ("http", "https") or address.startswith("//")
    }
    assert outside == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//[^)'\"]+", styles) == []
