from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.api.results_dir import sessions_folder

_READ = (
    "where the session folders are (default: $ASSAY_RESULTS_DIR, otherwise where the last `assay run` from this folder "
    "wrote, otherwise ./results)"
)
_WRITTEN = (
    "where the session's folder goes (default: the YAML's results_dir; of a command $ASSAY_RESULTS_DIR, otherwise "
    "./results)"
)


def results_dir_argument(parser: ArgumentParser, writes: bool = False) -> None:
    parser.add_argument("--results-dir", metavar="DIR", type=Path, help=_WRITTEN if writes else _READ)


def results_dir(args: Namespace) -> Path:
    return sessions_folder(args.results_dir)
