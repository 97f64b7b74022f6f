from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.self_rag.asked.passage import Passage
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import question_of
from assay.stages.self_rag.search.database_file import every_row, open_read_only, row_passage, schema_of
from assay.stages.self_rag.search.read_only_database import ReadOnlyDatabase, statement_in
from assay.stages.self_rag.search.text_index import MOST_INDEXED, TextIndex
from assay.stages.self_rag.towns.town_database import fill
from assay.stages.self_rag.towns.town_library import TownLibrary


class SQLiteSearch(Stage[Any, Question]):
    """Rows of a database: by the query that a model wrote, or, where none did, by the words of the question.

    `db_path` is a database file, opened to be read only; without it one about invented towns is made in memory
    (`towns`, `seed`). A query that is not one valid SELECT, or takes longer than `seconds`, finds nothing and is
    counted. `max_rows` are the rows of one search.
    """

    name = "SQLite search"

    def __init__(
        self, db_path: str | None = None, max_rows: int = 5, seconds: float = 1.0, towns: int = 24, seed: int = 0
    ) -> None:
        if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
            raise ValueError(f"max_rows must be a whole number of 1 or more, not {max_rows!r}")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise ValueError(f"seconds must be a number above 0, not {seconds!r}")
        self._path = None if db_path is None else Path(db_path)
        self._most_rows, self._seconds = max_rows, float(seconds)
        self._library = TownLibrary(towns, seed)
        self._note = ""
        self.schema = ""
        """The statements that made the tables; known after set-up."""

    def setup(self, worker: Worker) -> None:
        if self._path is None:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            fill(connection, self._library)
        else:
            connection = open_read_only(self._path)
        self.schema = schema_of(connection)
        rows = every_row(connection, MOST_INDEXED + 1)
        if len(rows) > MOST_INDEXED:
            self._note = f"of {self._path}, the first {MOST_INDEXED} rows are searched by words"
        self._index = TextIndex(rows[:MOST_INDEXED])
        self._database = ReadOnlyDatabase(connection, self._most_rows, self._seconds)
        self.start_measuring()

    def teardown(self) -> None:
        self._database.close()
        self._index.close()

    def start_measuring(self) -> None:
        self._searches = self._invalid = self._empty = self._rows = 0

    def process(self, data: Any) -> Question:
        question = question_of(data)
        found = self._by_words(question.wording) if question.sql is None else self._by_query(question.sql)
        self._searches += 1
        self._empty += not found
        self._rows += len(found)
        return replace(question, rows=found)

    def _by_words(self, text: str) -> tuple[Passage, ...]:
        return tuple(self._index.find(text, self._most_rows))

    def _by_query(self, said: str) -> tuple[Passage, ...]:
        found = self._database.select(statement_in(said))
        self._invalid += bool(found.refused)
        return tuple(row_passage(found.columns, row, f"result/{n}") for n, row in enumerate(found.rows))

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("searches", self._searches, unit="1"),
            Metric("invalid_queries", self._invalid, unit="1", better="lower"),
            Metric("empty", self._empty, unit="searches", better="lower"),
            Metric("rows", self._rows, unit="1"),
        )

    def notes(self) -> Sequence[str]:
        return (self._note,) if self._note else ()
