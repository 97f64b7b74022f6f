from __future__ import annotations

import re
import sqlite3

from assay.stages.self_rag.asked.passage import Passage

MOST_INDEXED = 200_000
"""Passages of one index: it is held in memory."""


class TextIndex:
    """Full-text search by words (SQLite's FTS5, ranked by BM25) over passages, in memory."""

    def __init__(self, passages: list[Passage]) -> None:
        self._passages = passages[:MOST_INDEXED]
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute("CREATE VIRTUAL TABLE passages USING fts5(text)")
        with self._connection:
            self._connection.executemany(
                "INSERT INTO passages (rowid, text) VALUES (?, ?)",
                ((n, passage.text) for n, passage in enumerate(self._passages)),
            )

    def find(self, text: str, most: int) -> list[Passage]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text.casefold())))
        if not words:
            return []
        found = self._connection.execute(
            "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?", (words, most)
        )
        return [self._passages[n] for (n,) in found]

    def close(self) -> None:
        self._connection.close()
