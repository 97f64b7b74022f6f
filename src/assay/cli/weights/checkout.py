from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("ref", help="branch, tag or commit")
    parser.add_argument("target", help="a .safetensors file")
    parser.add_argument("--name", default="*", help="only tensors whose name fits this pattern (* and ?)")
    parser.add_argument("--dtype", help="only tensors of this dtype")


def run(args: Namespace) -> int:
    from functools import partial

    from assay.errors import UsageError
    from assay.weights.files.safetensors_file import write_safetensors
    from assay.weights.repository import Repository

    repo = Repository.open(args.repo)
    entries = repo.find(args.ref, args.name, dtype=args.dtype)
    if not entries:
        listing = f"assay weights log {args.repo} {args.ref}"
        raise UsageError(f"{args.ref} has no tensor that fits {args.name!r}; see: {listing}")
    commit_id = repo.resolve(args.ref)
    target = Path(args.target)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_safetensors(target, [(e.name, e.dtype, e.shape, partial(repo.tensor, commit_id, e.name)) for e in entries])
    print(f"{target}: {len(entries)} tensors of {commit_id[:12]}")
    return 0
