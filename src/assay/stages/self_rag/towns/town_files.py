from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assay.stages.self_rag.towns.town_database import fill
from assay.stages.self_rag.towns.town_library import TownLibrary

QUESTIONS = "questions.jsonl"
DOCUMENTS = "documents.jsonl"
DATABASE = "towns.sqlite"


def write_files(folder: Path, library: TownLibrary) -> list[Path]:
    """The library as the files that RAGDataLoader, Retriever and SQLiteSearch read; files of before are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    questions, documents, database = (folder / name for name in (QUESTIONS, DOCUMENTS, DATABASE))
    _write_lines(
        questions,
        ({"question": q.text, "answer": list(q.answers), "document": q.document} for q in library.questions),
    )
    _write_lines(documents, ({"id": d.id, "text": d.text} for d in library.documents))
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    try:
        fill(connection, library)
    finally:
        connection.close()
    return [questions, documents, database]


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
