"""What a user can cause. Each is printed as one message, without a traceback, by `cli.main`.

AssayError                  exit 2 unless said otherwise
 ├─ ConfigError             the files cannot be read or are ambiguous; carries every problem found
 ├─ UsageError              the command line asks for something that cannot be
 ├─ DataError               an input file (manifest, result, weight file) is not what it should be
 └─ MissingExtra            an optional dependency is not installed; says the install command
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class AssayError(Exception):
    exit_code = 2


class ConfigError(AssayError):
    """`problems` are complete lines such as `bench.yaml:12: entries[2].timeout_s: …`."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


class UsageError(AssayError):
    pass


class DataError(AssayError):
    pass


class MissingExtra(AssayError):
    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} is not installed. Install it with: pip install 'assay-bench[{extra}]'")
