"""What people who know polars write for the tasks that peers/text/compare.py measures; imports no Assay."""

import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl

ROW = {"id": pl.String, "url": pl.String, "text": pl.String}


def listed(ids: Path) -> pl.Series:
    return pl.read_ndjson(ids, schema={"id": pl.String, "of": pl.String, "kind": pl.String})["id"]


def removal_parsed(folder: Path, ids: Path, out: Path) -> None:
    rows = pl.scan_ndjson(sorted(folder.glob("*.jsonl")), schema=ROW)
    rows.filter(~pl.col("id").is_in(listed(ids).implode())).sink_ndjson(out / "kept.jsonl")


def removal_lines(folder: Path, ids: Path, out: Path) -> None:
    """Lines pass as they are; only the id is looked for."""
    files = sorted(folder.glob("*.jsonl"))
    rows = pl.scan_csv(files, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})
    name = pl.col("line").str.json_path_match("$.id")
    kept = rows.filter(~name.is_in(listed(ids).implode()))
    kept.sink_csv(out / "kept.jsonl", include_header=False, quote_style="never")


def exact_hashed(folder: Path, out: Path) -> None:
    """Duplicates by a 64-bit hash of the text, which is not safe against collisions, but what is usually done."""
    rows = pl.scan_ndjson(sorted(folder.glob("*.jsonl")), schema=ROW)
    hashed = rows.select("id", key=pl.col("text").hash()).collect(engine="streaming").lazy()
    named = hashed.select("id", duplicate_of=pl.col("id").first().over("key"))
    named.filter(pl.col("id") != pl.col("duplicate_of")).sink_ndjson(out / "duplicates.jsonl")


def exact_grouped(folder: Path, out: Path) -> None:
    """Duplicates by the text itself."""
    rows = pl.scan_ndjson(sorted(folder.glob("*.jsonl")), schema=ROW).with_row_index("number")
    groups = rows.group_by("text").agg(pl.col("id").sort_by("number")).filter(pl.col("id").list.len() > 1)
    named = groups.select(id=pl.col("id").list.slice(1), duplicate_of=pl.col("id").list.first())
    named.explode("id").sink_ndjson(out / "duplicates.jsonl")


if __name__ == "__main__":
    tasks: list[Callable[..., None]] = [removal_parsed, removal_lines, exact_hashed, exact_grouped]
    {task.__name__: task for task in tasks}[sys.argv[1]](*(Path(word) for word in sys.argv[2:]))
