"""What people who know DuckDB write for the tasks that peers/text/compare.py measures; imports no Assay."""

import sys
from collections.abc import Callable
from pathlib import Path

import duckdb


def connected(in_order: bool) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect()
    database.execute(f"SET threads = 1; SET preserve_insertion_order = {in_order}")
    return database


def rows(folder: Path) -> str:
    columns = "{id: 'VARCHAR', url: 'VARCHAR', text: 'VARCHAR'}"
    return f"read_json('{folder}/*.jsonl', format = 'newline_delimited', columns = {columns})"


def listed(ids: Path) -> str:
    return f"read_json('{ids}', format = 'newline_delimited', columns = {{id: 'VARCHAR'}})"


def removal_parsed(folder: Path, ids: Path, out: Path) -> None:
    kept = f"SELECT d.* FROM {rows(folder)} d ANTI JOIN {listed(ids)} i ON d.id = i.id"
    connected(False).execute(f"COPY ({kept}) TO '{out}/kept.jsonl' (FORMAT json)")


def removal_lines(folder: Path, ids: Path, out: Path) -> None:
    """Lines pass as they are; only the id is looked for."""
    lines = f"read_ndjson_objects('{folder}/*.jsonl')"
    kept = f"SELECT json FROM {lines} WHERE json->>'$.id' NOT IN (SELECT id FROM {listed(ids)})"
    plain = r"FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER E'\x01'"
    connected(False).execute(f"COPY ({kept}) TO '{out}/kept.jsonl' ({plain})")


def exact_by(hashed: str, folder: Path, out: Path) -> None:
    database = connected(True)
    numbered = f"SELECT id, {hashed} AS key, row_number() OVER () AS number FROM {rows(folder)}"
    database.execute(f"CREATE TEMP TABLE hashed AS {numbered}")
    first = "SELECT key, arg_min(id, number) AS duplicate_of FROM hashed GROUP BY key HAVING count(*) > 1"
    named = f"SELECT id, duplicate_of FROM hashed JOIN ({first}) USING (key) WHERE id <> duplicate_of"
    database.execute(f"COPY ({named}) TO '{out}/duplicates.jsonl' (FORMAT json)")


def exact_hashed(folder: Path, out: Path) -> None:
    """Duplicates by a 64-bit hash of the text, which is not safe against collisions, but what is usually done."""
    exact_by("hash(text)", folder, out)


def exact_md5(folder: Path, out: Path) -> None:
    """Duplicates by a 128-bit hash of the text."""
    exact_by("md5_number(text)", folder, out)


if __name__ == "__main__":
    tasks: list[Callable[..., None]] = [removal_parsed, removal_lines, exact_hashed, exact_md5]
    {task.__name__: task for task in tasks}[sys.argv[1]](*(Path(word) for word in sys.argv[2:]))
