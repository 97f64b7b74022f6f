"""`--results-dir`, which may stand anywhere: before the command, after it, or after an action of it."""

from __future__ import annotations

from assay.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

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
