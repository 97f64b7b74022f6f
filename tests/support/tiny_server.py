"""`transformers serve` on the tiny model: a real server of language models for tests. `--port N --folder WHERE`.

Its own process would not import transformers beside a torchvision that was built for another torch; what the stages do
about that is done here first.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}  # more threads than the model has work for take long
    from assay.stages.pytorch.device import define_torchvision_operators
    from assay.stages.pytorch.tiny_model import write_tiny_model

    define_torchvision_operators()
    if not (args.folder / "config.json").is_file():
        write_tiny_model(args.folder)
    from transformers.cli.transformers import main as transformers

    sys.argv = ["transformers", "serve", str(args.folder), "--host", "127.0.0.1", "--port", args.port]
    transformers()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
