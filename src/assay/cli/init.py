from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.errors import UsageError

CONFIG = """\
# A session of benchmarks. Run it:      assay run --config assay.yaml
# What would run, without running it:   assay plan --config assay.yaml
# All keys:                             assay schema
results_dir: results
default_timeout_s: 600

entries:
  - name: sort_small
    script: my_benchmark.py        # found in scripts/ beside this file
    args: --rows 100000
    repeat: 6                      # six runs: enough to say what changed
    requirements:
      - metric: is_success
        exact_value: true
      - metric: rows_per_s
        min_value: 1

  - name: sort_large
    script: my_benchmark.py
    args: --rows 1000000
    timeout_s: 120
"""

SCRIPT = '''\
"""A first benchmark: replace the sorting by what you want to measure.

Alone, without Assay:   python scripts/my_benchmark.py --rows 1000
"""

import random

import assay

with assay.benchmark() as b:
    rows = b.param("rows", 100_000)
    with b.task("generate"):
        data = [random.random() for _ in range(rows)]
    with b.task("sort") as task:
        data.sort()
        task.record("rows", rows)
    b.metric("rows_per_s", rows / b.elapsed, unit="1/s", better="higher")
'''


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="where to (default: here)")
    parser.add_argument(
        "--ci", action="store_true", help="instead: GitHub workflows for pull requests, releases and every week"
    )


def run(args: Namespace) -> int:
    """A config and a benchmark script to start from. What is there already is never overwritten."""
    files = _workflows(args.folder) if args.ci else _first(args.folder)
    there = [path for path in files if path.exists()]
    if there:
        raise UsageError(f"{there[0]} exists already; choose another folder: assay init FOLDER")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        print(f"wrote {path}")
    if not args.ci:
        print(f"\nRun it:  assay run --config {args.folder / 'assay.yaml'}")
    return 0


def _first(folder: Path) -> dict[Path, str]:
    return {folder / "assay.yaml": CONFIG, folder / "scripts" / "my_benchmark.py": SCRIPT}


def _workflows(folder: Path) -> dict[Path, str]:
    return {
        folder / ".github" / "workflows" / f"assay-{path.name}": path.read_text(encoding="utf-8")
        for path in sorted((Path(__file__).parent / "ci" / "github").glob("*.yml"))
    }
