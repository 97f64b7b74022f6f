"""The environments of the sessions on both sides of a comparison, from their folders as far as they still exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.analysis.comparing.comparison import Comparison
from assay.analysis.comparing.conditions import load_differences
from assay.analysis.comparing.environment_difference import KINDS, Difference, environment_differences
from assay.errors import DataError
from assay.record import Environment, Record, SessionFolder
from assay.untrusted.read_limit import SESSION
from assay.untrusted.text_file import read_text
from assay.untrusted.unreadable import Unreadable


@dataclass(frozen=True)
class Surroundings:
    """What one session ran in."""

    environment: Environment
    installed: dict[str, str]
    """Every package, where the session kept the list; its environment names only those that decide."""

    @classmethod
    def of(cls, folder: Path) -> Surroundings | None:
        """None where it cannot be told: a folder that is gone, damaged, or not a session's."""
        try:
            environment = SessionFolder(folder).environment()
        except (DataError, Unreadable, OSError, TypeError):
            return None
        return cls(environment, _read_installed(folder / "artifacts" / "pip-freeze.txt"))

    def against(self, head: Surroundings) -> tuple[Difference, ...]:
        if not (self.installed and head.installed):
            return environment_differences(self.environment, head.environment)
        return environment_differences(self._with_all(), head._with_all())

    def _with_all(self) -> Environment:
        named = {_normal(name): version for name, version in self.environment.packages.items()}
        return replace(self.environment, packages={**named, **self.installed})


def with_surroundings(
    comparison: Comparison,
    base: Sequence[Record],
    head: Sequence[Record],
    base_folders: Iterable[Path],
    head_folders: Iterable[Path],
) -> Comparison:
    """The comparison with what differs besides: between any of the sessions on one side and any on the other."""
    before, after = _read_known(base_folders), _read_known(head_folders)
    found = dict.fromkeys(difference for one in before for other in after for difference in one.against(other))
    both = _in_both(base, head)
    found |= dict.fromkeys(_of_interpreters(*both, before, after))
    differences = sorted([*found, *load_differences(*both)], key=lambda one: KINDS.index(one.kind))
    return replace(comparison, environment=tuple(differences))


def _of_interpreters(
    base: Sequence[Record], head: Sequence[Record], before: Sequence[Surroundings], after: Sequence[Surroundings]
) -> Iterator[Difference]:
    """Differences between the Pythons of entries that have one of their own on either side."""
    for name in dict.fromkeys(run.name for run in head):
        one, other = (next(run for run in side if run.name == name) for side in (base, head))
        if one.environment is not None or other.environment is not None:
            yield from environment_differences(_python(one, before), _python(other, after))


def _python(run: Record, sessions: Sequence[Surroundings]) -> Environment:
    if run.environment is not None:
        return Environment(python=run.environment.python, packages=dict(run.environment.packages))
    said = sessions[0].environment if sessions else Environment()
    return Environment(python=said.python, packages=said.packages)


def _read_known(folders: Iterable[Path]) -> list[Surroundings]:
    return [found for found in map(Surroundings.of, dict.fromkeys(folders)) if found is not None]


def _in_both(base: Sequence[Record], head: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    names = {run.name for run in base} & {run.name for run in head}
    one, other = ([run for run in side if run.counts and run.name in names] for side in (base, head))
    return one, other


def _read_installed(path: Path) -> dict[str, str]:
    try:
        lines = read_text(path, SESSION).splitlines()
    except (FileNotFoundError, Unreadable, OSError):
        return {}
    pairs = (line.partition("==") for line in lines)
    return {_normal(name): version for name, equals, version in pairs if equals}


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")
