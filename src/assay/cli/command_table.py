"""Imports next to nothing: `assay --help` shows every command and loads none."""

from __future__ import annotations

from importlib import import_module

from assay.errors import UsageError

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
    Command("run", "run a session from YAML, or any command, and keep what was measured", kept=True),
    Command("load", "load on an OpenAI-compatible server or any HTTP service", kept=True),
    Command("plan", "what would run, resolved and checked; nothing is run"),
    Command("init", "a config and a benchmark script to start from"),
    Command("rerun", "one entry of an earlier session once more", kept=True),
    Command("prune", "delete old session folders; the history stays"),
    Command("migrate", "rewrite an older matrix, or a file of NeMo Curator, to do the same here"),
    Command("schema", "print the JSON Schema of a session YAML"),
    Command("doctor", "what works on this machine, what to install for what does not"),
    Command("colocate", "pipelines under load, alone and beside each other"),
    Command("show", "what a session measured"),
    Command("logs", "what an entry printed, also while it runs"),
    Command("compare", "what changed between two sessions, and whether to believe it"),
    Command("accept", "make an intended change the new baseline"),
    Command("ab", "run two variants in random pairs until it is clear which is better"),
    Command("ci", "show a verdict in CI: annotation, step summary, pull-request comment"),
    Command("calibrate", "run A against A and store the noise floor"),
    Command("sinks", "what other systems were told: list, status, flush, test"),
    Command("history", "every value over time: list, show, import, export"),
    Command("report", "write a session's HTML report"),
    Command("serve", "the dashboard, on this machine only"),
    Command("publish", "the dashboard as files, for any web host"),
    Command("data", "make input data for the bundled benchmarks"),
    Command("weights", "keep versions of model weights, exact to the bit"),
)

# `--results-dir`, which may stand anywhere: before the command, after it, or after an action of it.

OPTION = "--results-dir"


def take_results_dir(words: list[str]) -> tuple[list[str], str | None]:
    """The other words, and the folder. Given twice, the last one counts, as with any option."""
    left, given = [], None
    rest = iter(words)
    for word in rest:
        if word == OPTION:
            given = next(rest, None)
            if given is None:
                raise UsageError(f"{OPTION} needs a folder: {OPTION} DIR")
        elif word.startswith(f"{OPTION}="):
            given = word.removeprefix(f"{OPTION}=")
        else:
            left.append(word)
    return left, given


def put_results_dir(args: Namespace, given: str | None) -> None:
    if given is None:
        return
    if not hasattr(args, "results_dir"):
        raise UsageError(f"this command reads and writes no session: leave out {OPTION}")
    from pathlib import Path

    args.results_dir = Path(given)
