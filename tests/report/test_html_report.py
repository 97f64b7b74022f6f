from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from nightly import HOSTILE, nightly_runs
from session_factory import make_session

from assay.report.html import write_report


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_names_values_and_logs_are_text(tmp_path: Path) -> None:
    folder = make_session(tmp_path, nightly_runs())
    page = Page(write_report(folder).read_text())
    assert HOSTILE in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "</pre><script>alert('log')</script>" in page.text
    assert "img" not in {tag for tag, _ in page.tags}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]


def test_nothing_is_asked_of_any_other_host(tmp_path: Path) -> None:
    page = Page(write_report(make_session(tmp_path, nightly_runs())).read_text())
    addresses = [
        value for _, attrs in page.tags for name, value in attrs.items() if name in ("src", "href", "action") and value
    ]
    assert all(address.startswith(("#", "data:")) for address in addresses), addresses
