from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("ref", help="branch, tag or commit")
    parser.add_argument("target", help="a .safetensors file, or with --shard-mb a folder")
    parser.add_argument("--shard-mb", type=int, help="write shards of at most this size, and an index")


def run(args: Namespace) -> int:
    from assay.weights.files.model_files import export_model
    from assay.weights.repository import Repository

    shard = args.shard_mb << 20 if args.shard_mb else None
    for path in export_model(Repository.open(args.repo), args.ref, args.target, shard):
        print(path)
    return 0
