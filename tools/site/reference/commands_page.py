from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from tools.site.reference.markdown import code, page, prose, table

SUMMARY = "Every command and every flag, from what `assay COMMAND --help` prints."


def commands_page() -> str:
    return page("Commands", SUMMARY, _parts())


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command and action with its parser: `run`, …, `weights`, `weights commit`."""
    from assay.cli.command_table import COMMANDS

    # argparse breaks lines as wide as the terminal says.
    os.environ["COLUMNS"] = "100"
    for command in COMMANDS:
        parser = argparse.ArgumentParser(prog=f"assay {command.name}", description=command.summary)
        command.module().arguments(parser)
        yield from _with_actions(command.name, parser)


def _with_actions(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            seen: set[int] = set()
            for word, inner in action.choices.items():
                if id(inner) not in seen:
                    seen.add(id(inner))
                    yield from _with_actions(f"{name} {word}", inner)


def _parts() -> Iterator[str]:
    from assay.cli.main import EXIT_CODES

    yield "`assay --version` prints version and commit, `assay --help` this list of commands."
    yield f"```text\n{EXIT_CODES}\n```"
    for name, parser in parsers():
        yield f"{'#' * (2 + name.count(' '))} assay {name}"
        if parser.description:
            said = " ".join(parser.description.split())
            yield prose(said[0].upper() + said[1:] + ("" if said.endswith((".", ":")) else "."))
        yield f"```text\n{parser.format_usage().strip()}\n```"
        rows = [row for action in parser._actions if (row := _row(action))]
        if rows:
            yield table(["word or flag", "takes", "what it does", "default"], rows)
        if parser.epilog:
            yield f"```text\n{parser.epilog.strip()}\n```"


def _row(action: argparse.Action) -> list[str] | None:
    if isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:
        return None
    if isinstance(action, argparse._SubParsersAction):
        return [code(str(action.metavar or action.dest)), " ".join(map(code, action.choices)), "what to do", ""]
    shown = ", ".join(map(code, action.option_strings)) or code(str(action.metavar or action.dest))
    return [shown, _takes(action), prose(_help(action)), _default(action)]


def _help(action: argparse.Action) -> str:
    text = action.help or ""
    values = {**vars(action), "prog": "assay"}
    return text % values if "%" in text else text


def _takes(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices:
        words = ", ".join(code(str(choice)) for choice in action.choices)
    else:
        words = code(str(action.metavar or action.dest.upper()) if action.option_strings else "")
    repeated = isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+")
    return f"{words}, several" if repeated and words else "several" if repeated else words


def _default(action: argparse.Action) -> str:
    empty = action.default in (None, False, [], (), "", argparse.SUPPRESS)
    return "" if empty or action.nargs == 0 else code(str(action.default))
