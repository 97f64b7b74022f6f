"""The example sessions and colocation files: beside the package in a wheel, at the top of a checkout."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

from assay.errors import DataError, UsageError
from assay.names import unknown

PACKAGE = Path(__file__).parent.parent
TEXT = (".yaml", ".yml", ".py", ".json", ".ipynb")


def example_files(folder: Path) -> dict[Path, str]:
    """What `assay init --examples` writes: each file's place below `folder`, and its text."""
    source = next(
        (place for place in (PACKAGE / "examples", PACKAGE.parent.parent / "examples") if place.is_dir()), None
    )
    if source is None:
        raise DataError("this copy of Assay was installed without its examples; they are in its source distribution")
    found = sorted(path for path in source.rglob("*") if path.suffix in TEXT)
    return {folder / "examples" / path.relative_to(source): path.read_text(encoding="utf-8") for path in found}


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
    repeat: 6
    timeout_s: 120                 # of each run; instead of default_timeout_s
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
    with b.task("sort") as sort:
        data.sort()
    print(f"sorted {rows:,} rows in {sort.seconds:.3f} s")
    # Rows a second of the sorting alone: what made the rows is not in it.
    b.metric("rows_per_s", rows / sort.seconds, unit="1/s", better="higher")
'''


@dataclass(frozen=True)
class Scheduler:
    """Where the files for a scheduler go, and what its user does next."""

    folder: str
    then: str
    prefix: str = ""


CI = {
    "github": Scheduler(
        ".github/workflows", "They run assay.yaml, at the top of the repository: commit it too.", "assay-"
    ),
    "gitlab": Scheduler(".gitlab", "Include it in .gitlab-ci.yml:\n\ninclude:\n  - local: .gitlab/assay.yml"),
    "slurm": Scheduler("slurm", "Submit a night, from the folder with assay.yaml:  slurm/assay-night.sh"),
}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="where to (default: here)")
    parser.add_argument(
        "--ci",
        metavar="NAME",
        nargs="?",
        const="github",
        help="instead: pull requests, nights and releases for github (the default) or gitlab; nights for slurm",
    )
    parser.add_argument("--examples", action="store_true", help="instead: the example files, in examples/")


def run(args: Namespace) -> int:
    """A config and a benchmark script to start from. What is there already is never overwritten."""
    files = _files(args)
    there = [path for path in files if path.exists()]
    if there:
        raise UsageError(f"{there[0]} exists already; choose another folder: assay init FOLDER")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        if content.startswith("#!"):
            path.chmod(0o755)
        print(f"wrote {path}")
    print(f"\n{_then(args)}")
    return 0


def _files(args: Namespace) -> dict[Path, str]:
    if args.examples:
        return example_files(args.folder)
    return _first(args.folder) if args.ci is None else _ci(args.ci, args.folder)


def _then(args: Namespace) -> str:
    if args.examples:
        return f"Run one:  assay run --config {args.folder / 'examples' / 'quickstart.yaml'}"
    return f"Run it:  assay run --config {args.folder / 'assay.yaml'}" if args.ci is None else CI[args.ci].then


def _first(folder: Path) -> dict[Path, str]:
    return {folder / "assay.yaml": CONFIG, folder / "scripts" / "my_benchmark.py": SCRIPT}


def _ci(name: str, folder: Path) -> dict[Path, str]:
    if name not in CI:
        raise UsageError(f"--ci: {unknown('scheduler', name, CI)}; the folder comes first: assay init FOLDER --ci NAME")
    return {
        folder / CI[name].folder / f"{CI[name].prefix}{path.name}": path.read_text(encoding="utf-8")
        for path in sorted((Path(__file__).parent / "ci" / name).iterdir())
        if path.is_file()
    }
