from __future__ import annotations

import sqlite3

from assay.stages.self_rag.towns.town_library import TownLibrary, row_id


def fill(connection: sqlite3.Connection, library: TownLibrary) -> None:
    """Tables of towns and of documents."""
    with connection:
        connection.execute(
            "CREATE TABLE towns (id TEXT PRIMARY KEY, name TEXT, river TEXT, mayor TEXT, founded INTEGER, "
            "inhabitants INTEGER)"
        )
        connection.execute("CREATE TABLE documents (id TEXT PRIMARY KEY, text TEXT)")
        connection.executemany(
            "INSERT INTO towns VALUES (?, ?, ?, ?, ?, ?)",
            [(row_id(t), t.name, t.river, t.mayor, t.founded, t.inhabitants) for t in library.towns],
        )
        connection.executemany("INSERT INTO documents VALUES (?, ?)", [(d.id, d.text) for d in library.documents])
