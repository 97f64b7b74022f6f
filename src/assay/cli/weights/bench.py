from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    from assay.benchmarks.weights import program

    program.arguments(parser)


def run(args: Namespace) -> int:
    from assay.benchmarks.weights import program

    return program.run(args)
