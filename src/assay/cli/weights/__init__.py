"""`assay weights …`: one file of this folder a subcommand; what is heavy is imported when one is run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from assay.cli.command import CommandModule


@dataclass(frozen=True)
class Subcommand:
    name: str
    summary: str

    def module(self) -> CommandModule:
        return cast("CommandModule", import_module(f"assay.cli.weights.{self.name}"))


SUBCOMMANDS: tuple[Subcommand, ...] = (
    Subcommand("bench", "measure the store, and others, with six suites"),
    Subcommand("init", "make a repository"),
)


def arguments(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(metavar="subcommand", required=True)
    for subcommand in SUBCOMMANDS:
        sub = commands.add_parser(
            subcommand.name, help=subcommand.summary, description=subcommand.summary, allow_abbrev=False
        )
        module = subcommand.module()
        module.arguments(sub)
        sub.set_defaults(subcommand_module=module)


def run(args: Namespace) -> int:
    return int(args.subcommand_module.run(args))
