from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.api.results_dir import sessions_folder


def results_dir_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--results-dir",
        metavar="DIR",
        type=Path,
        help="where the session folders are (default: $ASSAY_RESULTS_DIR, otherwise where the last `assay run` from "
        "this folder wrote, otherwise ./results)",
    )


def results_dir(args: Namespace) -> Path:
    return sessions_folder(args.results_dir)
