"""Pages of single runs."""

from __future__ import annotations

from dataclasses import dataclass

from assay.history import RunRow
from assay.report.dashboard.asked import PAGE, Asked, Listed, number_asked
from assay.report.dashboard.store import Store


@dataclass(frozen=True)
class RunsPage:
    runs: Listed
    entries: tuple[str, ...]


def runs(store: Store, asked: Asked) -> RunsPage:
    page = number_asked(asked, "page")
    with store.history() as history:
        found: list[RunRow] = []
        names: list[str] = []
        if history:
            found = history.runs(
                session=asked.get("session"), entry=asked.get("entry"), outcome=asked.get("outcome"),
                limit=PAGE + 1, offset=page * PAGE,
            )  # fmt: skip
            names = history.entries()
    return RunsPage(Listed(tuple(found[:PAGE]), page, len(found) > PAGE), tuple(names))
