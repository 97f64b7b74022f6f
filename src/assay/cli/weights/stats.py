from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")


def run(args: Namespace) -> int:
    from dataclasses import asdict

    from assay.weights.repository import Repository

    stats = Repository.open(args.repo).stats()
    values = {**asdict(stats), "ratio": round(stats.ratio, 4)}
    if args.json:
        import json

        print(json.dumps(values))
        return 0
    for name, value in values.items():
        print(f"{name.replace('_', ' '):<16} {value:>16,}")
    if stats.lossy_tensors:
        print("lossy tensors were stored by an encoding that somebody asked for; they are near, not the same")
    return 0
