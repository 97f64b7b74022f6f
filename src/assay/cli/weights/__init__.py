"""`assay weights …`: one file of this folder a subcommand; what is heavy is imported when one is run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from assay.cli.extras import missing
from assay.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from assay.cli.command_table import CommandModule


@dataclass(frozen=True)
class Subcommand:
    name: str
    summary: str
    file: str = ""

    def module(self) -> CommandModule:
        return cast("CommandModule", import_module(f"assay.cli.weights.{self.file or self.name}"))


SUBCOMMANDS: tuple[Subcommand, ...] = (
    Subcommand("bench", "measure the store, and others, with six suites"),
    Subcommand("init", "make a repository"),
    Subcommand("import", "commit a safetensors file, a PyTorch file or a folder of shards", "commit"),
    Subcommand("export", "write a version as safetensors"),
    Subcommand("commit", "commit a model file as the next version of a branch", "commit"),
    Subcommand("checkout", "write tensors of a version, by name if asked", "checkout"),
    Subcommand("log", "the versions, or the tensors of one"),
    Subcommand("branch", "list, make, delete or switch branches"),
    Subcommand("tag", "list or make tags"),
    Subcommand("merge", "bring another branch into the current one"),
    Subcommand("diff", "which tensors two versions have changed"),
    Subcommand("stats", "sizes, ratio, duplicates, differences"),
    Subcommand("gc", "drop what nothing refers to and repack"),
    Subcommand("verify", "read everything and compare with its checksums"),
    Subcommand("migrate", "bring a repository of an older format to the present one"),
    Subcommand("push", "send a branch to another place"),
    Subcommand("pull", "fetch branches from another place"),
    Subcommand("clone", "copy a repository from another place"),
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
    try:
        return int(args.subcommand_module.run(args))
    except OSError as error:
        # The disk is full, the place can only be read, or the folder went away.
        where = error.filename or getattr(args, "repo", "the repository")
        raise DataError(f"{where} cannot be used: {error.strerror or error}") from None
    except ImportError as error:
        # Packages below import what they need where they need it; this is the one place that can say what is missing.
        if lacking := missing("weights"):
            raise MissingExtra(f"What the weight store needs ({', '.join(lacking)})", "weights") from None
        # One that is there and cannot be imported is no help either; of another of Assay's own the fault is ours.
        if not (error.name or "").startswith("assay"):
            raise MissingExtra(f"What the weight store needs ({error.name or error})", "weights") from None
        raise
