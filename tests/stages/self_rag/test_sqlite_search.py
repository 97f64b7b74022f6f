"""What a model wrote is run under limits: it can read, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.pipeline.stage import Worker
from assay.stages.self_rag import SQLiteSearch
from assay.stages.self_rag.question import Question
from assay.stages.self_rag.sample_data import DATABASE, TownLibrary, write_files
from assay.stages.self_rag.scripted_model import Scorecard
from assay.stages.self_rag.sqlite_search import statement_in


@pytest.fixture
def search() -> Iterator[SQLiteSearch]:
    stage = SQLiteSearch(seconds=0.05)
    stage.setup(Worker())
    yield stage
    stage.teardown()


def figures(stage: SQLiteSearch) -> dict[str, float]:
    return {metric.name: metric.value for metric in stage.measured()}


def rows(stage: SQLiteSearch, sql: str) -> list[str]:
    return [row.text for row in stage.process(Question(0, "", sql=sql)).rows]


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "I do not know.",
        "SELECT nothing FROM nowhere",
        "SELECT 1; SELECT 2",
        "DELETE FROM towns",
        "WITH a AS (SELECT 1) DELETE FROM towns",
        "SELECT 1; DROP TABLE towns",
        "ATTACH '/etc/passwd' AS other",
        "PRAGMA query_only = OFF",
        "SELECT * FROM pragma_table_info('towns')",
        "SELECT load_extension('x')",
        "SELECT zeroblob(100000000)",
        "SELECT printf('%.*c', 100000000, 'x')",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
        "SELECT 'a' LIKE '" + "%a" * 150 + "'",
        "SELECT '" + "x" * 20_000 + "'",
        "SELECT '\x00'",
        "SELECT '\ud800'",
    ],
)
def test_what_is_no_good_select_finds_nothing_and_is_counted(search: SQLiteSearch, sql: str) -> None:
    assert rows(search, sql) == []
    assert figures(search) == {"searches": 1, "invalid_queries": 1, "empty": 1, "rows": 0}
    assert rows(search, "SELECT count(*) AS towns FROM towns") == ["towns: 24"]


def test_a_query_that_finds_nothing_is_valid(search: SQLiteSearch) -> None:
    assert rows(search, "SELECT * FROM towns WHERE name = 'Atlantis'") == []
    assert figures(search) == {"searches": 1, "invalid_queries": 0, "empty": 1, "rows": 0}


def test_rows_are_bounded(search: SQLiteSearch) -> None:
    assert len(rows(search, "SELECT name FROM towns")) == 5
    assert figures(search)["rows"] == 5


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("SELECT 1", "SELECT 1"),
        ("Here it is:\n```sql\nSELECT name\nFROM towns;\n```\nI hope it helps.", "SELECT name\nFROM towns;"),
        ("```\nselect 1\n```", "select 1"),
        ("```SELECT 1", "SELECT 1"),
        ("Query: with a as (select 1) select * from a", "with a as (select 1) select * from a"),
        ("The selection is hard.", ""),
    ],
)
def test_the_statement_is_found_in_what_a_model_says(said: str, statement: str) -> None:
    assert statement_in(said) == statement


def test_without_a_query_the_words_of_the_question_are_searched_for(search: SQLiteSearch) -> None:
    card = Scorecard()
    known = TownLibrary().questions
    for n, question in enumerate(known):
        card.add(search.process(Question(n, question.text)), question)
    assert {m.name: m.value for m in card.metrics()}["document_found"] == 1
    assert search.process(Question(0, "?!")).rows == ()


def test_a_search_by_words_takes_the_last_wording(search: SQLiteSearch) -> None:
    found = search.process(Question(0, "nothing of the kind", rewrites=("Dunstaby",)))
    assert {row.id for row in found.rows} == {"row-000", "town-000", "wrong-000"}


def test_a_file_is_read_and_never_written(tmp_path: Path) -> None:
    write_files(tmp_path, TownLibrary(count=3))
    path = tmp_path / DATABASE
    before = path.read_bytes()
    stage = SQLiteSearch(db_path=str(path))
    stage.setup(Worker())
    assert "CREATE TABLE towns" in stage.schema
    assert rows(stage, "SELECT count(*) AS n FROM towns") == ["n: 3"]
    assert rows(stage, "DELETE FROM towns") == []
    stage.teardown()
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["documents.jsonl", "questions.jsonl", DATABASE]


def test_a_database_of_ones_own_with_odd_names_and_values(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "own.sqlite")
    connection.execute('CREATE TABLE "odd ""name" (ID INTEGER, note TEXT, picture BLOB)')
    connection.execute('INSERT INTO "odd ""name" VALUES (7, ?, x\'00ff\')', ("violet " * 1000,))
    connection.execute("CREATE TABLE plain (note TEXT)")
    connection.execute("INSERT INTO plain VALUES ('orange')")
    connection.commit()
    connection.close()
    stage = SQLiteSearch(db_path=str(tmp_path / "own.sqlite"))
    stage.setup(Worker())
    (violet,) = stage.process(Question(0, "violet")).rows
    assert violet.id == "7"
    assert len(violet.text) == 2000
    assert [row.id for row in stage.process(Question(0, "orange")).rows] == ["plain/0"]
    stage.teardown()


def test_a_database_that_is_not_there_or_none_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*missing.sqlite; leave db_path out"):
        SQLiteSearch(db_path=str(tmp_path / "missing.sqlite")).setup(Worker())
    (tmp_path / "text.sqlite").write_text("not a database at all, but long enough to look like one")
    with pytest.raises(DataError, match=r"text.sqlite is no SQLite database: file is not a database"):
        SQLiteSearch(db_path=str(tmp_path / "text.sqlite")).setup(Worker())
