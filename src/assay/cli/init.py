"""The example sessions and colocation files: beside the package in a wheel, at the top of a checkout."""

from __future__ import annotations

import json
import shlex
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

from assay.cli.extras import requirement
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
    "github": Scheduler(".github/workflows", "Commit them. They run {names}, at the top of the repository.", "assay-"),
    "gitlab": Scheduler(".gitlab", "Include it in .gitlab-ci.yml:\n\ninclude:\n  - local: .gitlab/assay.yml"),
    "slurm": Scheduler("slurm", "Submit a night, from the folder with {names}:  slurm/assay-night.sh"),
}
BASELINES = ("merge-base", "stored")
_MERGE_BASE_ONLY = ("comment.yml", "assay-compare.sbatch")
"""Not needed with a stored baseline: the machine is yours, so it runs no fork's code."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="where to (default: here)")
    parser.add_argument("--examples", action="store_true", help="instead: the example files, in examples/")
    ci = parser.add_argument_group("jobs for CI, instead of a config and a script")
    ci.add_argument(
        "--ci",
        metavar="NAME",
        nargs="?",
        const="github",
        help="github (the default), gitlab or slurm: jobs for pull requests, nights and releases. They install Assay "
        "from where this copy came from, which is the variable ASSAY_PACKAGE in them",
    )
    ci.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="what the jobs run; several are merged (default: assay.yaml and gate.yaml, as far as they are there)",
    )
    ci.add_argument(
        "--ci-baseline",
        metavar="BASELINE",
        choices=BASELINES,
        help="what a pull request is compared with. merge-base (the default): the commit that it branched from, run in "
        "the same job. stored: earlier sessions kept on the runner, for machines that you own",
    )


def run(args: Namespace) -> int:
    """A config and a benchmark script to start from. What is there already is never overwritten."""
    if args.ci is None and (args.config or args.ci_baseline):
        raise UsageError(f"{'--config' if args.config else '--ci-baseline'} is for the jobs of --ci: add --ci github")
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
    return _first(args.folder) if args.ci is None else _ci(args)


def _then(args: Namespace) -> str:
    if args.examples:
        return f"Run one:  assay run --config {args.folder / 'examples' / 'quickstart.yaml'}"
    if args.ci is None:
        return f"Run it:  assay run --config {args.folder / 'assay.yaml'}"
    configs = _configs(args)
    said = [CI[args.ci].then.format(names=" and ".join(configs))]
    missing = [name for name in configs if not (args.folder / name).is_file()]
    if missing:
        said.append(f"{missing[0]} isn't there yet: `assay init` writes one.")
    if args.ci != "slurm" and " @ file:" in requirement(args.folder):
        said.append(
            "This copy of Assay is from a folder or file that only this machine has. Set ASSAY_PACKAGE in them to what "
            "the runners can install: a git address, or a wheel in your repository."
        )
    return "\n\n".join(said)


def _first(folder: Path) -> dict[Path, str]:
    return {folder / "assay.yaml": CONFIG, folder / "scripts" / "my_benchmark.py": SCRIPT}


def _configs(args: Namespace) -> list[str]:
    """Return the config files as the jobs name them, from the top of the repository."""
    there = [name for name in ("assay.yaml", "gate.yaml") if (args.folder / name).is_file()]
    return args.config or there or ["assay.yaml"]


def _ci(args: Namespace) -> dict[Path, str]:
    name, folder = args.ci, args.folder
    if name not in CI:
        raise UsageError(f"--ci: {unknown('scheduler', name, CI)}; the folder comes first: assay init FOLDER --ci NAME")
    configs = _configs(args)
    for config in args.config:
        if not (folder / config).is_file():
            raise UsageError(f"--config {config}: there is no such file in {folder.absolute()}")
        if Path(config).is_absolute() or not config.isprintable():
            raise UsageError(f"--config {config}: give its path from the top of the repository")
    values = {
        "package": json.dumps(requirement(folder)),
        "profile": json.dumps(requirement(folder, "profile")),
        "package_word": shlex.quote(requirement(folder)),
        "config": " ".join(f"--config {shlex.quote(config)}" for config in configs),
        "names": " and ".join(configs),
        "baseline": args.ci_baseline or "merge-base",
    }
    return {
        folder / CI[name].folder / f"{CI[name].prefix}{path.name}": _filled(path, values)
        for path in sorted((Path(__file__).parent / "ci_files" / name).iterdir())
        if path.is_file() and (values["baseline"] == "merge-base" or path.name not in _MERGE_BASE_ONLY)
    }


def _filled(path: Path, values: dict[str, str]) -> str:
    """The braces in these files are the scheduler's, so that ours are `@@ value @@` and `#% if`."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        variable_start_string="@@", variable_end_string="@@", block_start_string="#%%", block_end_string="%%#",
        comment_start_string="@#", comment_end_string="#@", line_statement_prefix="#%", keep_trailing_newline=True,
        undefined=StrictUndefined, autoescape=False,
    )  # fmt: skip
    return environment.from_string(path.read_text(encoding="utf-8")).render(values)
