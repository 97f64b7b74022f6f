"""Imports next to nothing: `assay --help` shows every command and loads none."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Protocol

    class CommandModule(Protocol):
        """What the file of a command provides."""

        def arguments(self, parser: ArgumentParser) -> None: ...
        def run(self, args: Namespace) -> int: ...


class Command:
    """A command is named here and imported only when it is asked for.

    `path`: its module below `assay.cli`, which ends in its name. `kept`: what it prints is in a session's folder too,
    so that nothing is lost with its output.
    """

    def __init__(self, path: str, summary: str, kept: bool = False) -> None:
        self.path = path
        self.name = path.rpartition(".")[2]
        self.summary = summary
        self.kept = kept

    def module(self) -> CommandModule:
        module: CommandModule = import_module(f"assay.cli.{self.path}")
        return module


COMMANDS: tuple[Command, ...] = (
    Command("running.run", "run a session from YAML, or any command, and keep what was measured", kept=True),
    Command("running.load", "load on an OpenAI-compatible server or any HTTP service", kept=True),
    Command("running.plan", "what would run, resolved and checked; nothing is run"),
    Command("running.init", "a config and a benchmark script to start from"),
    Command("running.rerun", "one entry of an earlier session once more", kept=True),
    Command("keeping.prune", "delete old session folders; the history stays"),
    Command("keeping.migrate", "rewrite an older matrix, or a file of NeMo Curator, to do the same here"),
    Command("keeping.schema", "print the JSON Schema of a session YAML"),
    Command("keeping.doctor", "what works on this machine, what to install for what does not"),
    Command("running.colocate", "pipelines under load, alone and beside each other"),
    Command("looking.show", "what a session measured"),
    Command("looking.logs", "what an entry printed, also while it runs"),
    Command("looking.compare", "what changed between two sessions, and whether to believe it"),
    Command("running.ab", "run two variants in random pairs until it is clear which is better"),
    Command("running.calibrate", "run A against A and store the noise floor"),
    Command("keeping.sinks", "what other systems were told: list, status, flush, test"),
    Command("looking.history", "every value over time: list, show, import, export"),
    Command("looking.report", "write a session's HTML report"),
    Command("looking.serve", "the dashboard, on this machine only"),
    Command("looking.publish", "the dashboard as files, for any web host"),
    Command("keeping.data", "make input data for the bundled benchmarks"),
    Command("weights", "keep versions of model weights, exact to the bit"),
)
