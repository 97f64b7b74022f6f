from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path


def results_dir_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--results-dir",
        metavar="DIR",
        type=Path,
        help="where the session folders are (default: $ASSAY_RESULTS_DIR, otherwise ./results)",
    )


def results_dir(args: Namespace) -> Path:
    given: Path | None = args.results_dir
    return given or Path(os.environ.get("ASSAY_RESULTS_DIR") or "results")
