"""Runs the product on lines or files, for comparison with the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.stages.alm import oracle

from assay.benchmarks.data.alm import SHAPES, write_manifest
from assay.pipeline import Executor, Pipeline
from assay.pipeline.executors.executor import LocalExecutor
from assay.stages.alm.builder_stage import ALMDataBuilderStage
from assay.stages.alm.manifest_reader import ManifestReader
from assay.stages.alm.overlap_stage import ALMDataOverlapStage
from assay.stages.alm.parameters import BuilderParameters, OverlapParameters
from assay.stages.alm.recording import Lines, count_lines, normal_form
from assay.stages.alm.split_summary import Curated, SplitSummary, Tally
from assay.stages.alm.writers import ALMJsonlWriter

Json = dict[str, Any]


def curate_block(
    data: bytes, builder: Json | None = None, overlap: Json | None = None, native: bool = True, skip: bool = False
) -> Curated:
    first = BuilderParameters(**(builder or {}))
    lines = Lines(data, "block.jsonl", 0, count_lines(data))
    built = ALMDataBuilderStage(first, "skip" if skip else "fail", native=native).process(lines)
    return ALMDataOverlapStage(OverlapParameters(**(overlap or {})), first).process(built)


def output_of(batch: Curated) -> bytes:
    text = b""
    done = 0
    for row, record in batch.plain.items():
        text += batch.native.json_lines(done, row) if batch.native else b""
        text += normal_form(record).encode() + b"\n"
        done = row + 1
    return text + (batch.native.json_lines(done, batch.rows) if batch.native else b"")


def pipeline(manifest: Path, output: Path | None = None, overlap: float = 50, skip: bool = False) -> Pipeline:
    on_bad_line = "skip" if skip else "fail"
    last = Tally() if output is None else ALMJsonlWriter(output)
    stages = [ALMDataBuilderStage(on_bad_line=on_bad_line), ALMDataOverlapStage(OverlapParameters(overlap)), last]
    return Pipeline(ManifestReader(str(manifest), on_bad_line), stages)


def total(outputs: list[Any]) -> SplitSummary:
    summary = SplitSummary()
    for output in outputs:
        summary.add(output if isinstance(output, SplitSummary) else output.summary)
    return summary


def written(manifest: Path, folder: Path, executor: Executor | None = None) -> bytes:
    """The output of a whole manifest, part after part."""
    parts = pipeline(manifest, folder).run(executor or LocalExecutor()).outputs
    return b"".join(Path(part.path).read_bytes() for part in parts)


def odd_manifest(folder: Path, count: int = 10_000, seed: int = 4) -> Path:
    path = folder / f"odd-{count}-{seed}.jsonl"
    if not path.exists():
        write_manifest(path, count, SHAPES["odd"], seed)
    return path


def oracle_output(manifest: Path, overlap: float = 50) -> bytes:
    with manifest.open(encoding="utf-8", newline="\n") as lines:
        return b"".join(
            oracle.curated_line(line, overlap={"overlap_percentage": overlap}) for line in lines if line.strip()
        )
