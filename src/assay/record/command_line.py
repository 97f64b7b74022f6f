from __future__ import annotations

import re
from collections.abc import Sequence

_OPTION = re.compile(r"--?[A-Za-z]")


class Words:
    """`--name value`, `--name=value` and `--flag` from a command line, taken by name as they are asked for.

    A benchmark asks for its parameters where it uses them, so there is no list of them up front and a parser
    that needs one does not fit.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._left = list(argv)

    def take(self, *names: str, flag: bool = False) -> str | None:
        """The last value given under any of the names; `flag` takes no value unless written with `=`."""
        options = {f"--{name}" for name in names}
        found: str | None = None
        kept: list[str] = []
        words = iter(self._left)
        for word in words:
            option, equals, value = word.partition("=")
            if option not in options:
                kept.append(word)
            elif equals:
                found = value
            elif flag:
                found = ""
            else:
                found = next(words, None)
                if found is None:
                    raise SystemExit(f"{option}: a value must follow")
        self._left = kept
        return found

    def find_unused(self) -> list[str]:
        """Options that nobody took, without their values; where there is none, words that belong to no option."""
        options = [word.partition("=")[0] for word in self._left if _OPTION.match(word)]
        return options or list(self._left)
