from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("model", help=".safetensors, PyTorch .pt/.pth/.bin/.ckpt, or a folder of shards")
    parser.add_argument("-m", "--message", default="", help="what this version is, for the log")
    parser.add_argument("--branch", help="made from the current one if it is new (default: the current one)")


def run(args: Namespace) -> int:
    from assay.report.quantity import printable
    from assay.weights.files.model_files import open_model
    from assay.weights.files.torch_file import TorchFile
    from assay.weights.repository import Repository

    repo = Repository.open(args.repo)
    model = open_model(args.model)
    commit = repo.show(repo.commit(model, args.message or f"import {args.model}", args.branch))
    print(f"{commit.id[:12]} on {commit.branch}: {len(commit.entries)} tensors")
    if isinstance(model, TorchFile) and model.skipped:
        shown = printable(", ".join(model.skipped[:8]))
        print(f"not tensors, so not stored: {shown}{' …' if len(model.skipped) > 8 else ''}")
    return 0
