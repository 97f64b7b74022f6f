from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.record import Record
from assay.session.events import Interrupts, Listener
from assay.session.runs import Run
from assay.session.workspace import OpenSession


class RunPlan(Protocol):
    """Runs what a plan has and a session has not yet; all its records. An experiment is handed one."""

    def __call__(
        self,
        plan: Plan,
        session: OpenSession,
        *,
        listen: Listener,
        order: Callable[[Plan], list[Run]],
        interrupts: Interrupts | None,
    ) -> list[Record]: ...


class MissingInRevision(UsageError):
    """A file that was not there yet, or is no longer."""


class Checkout:
    """A git revision in a folder of its own; the user's working tree is not touched. Gone when the block ends."""

    def __init__(self, revision: str, repository: Path) -> None:
        self.revision = revision
        self.repository = repository_root(repository)
        self.commit = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        self._parent: tempfile.TemporaryDirectory[str] | None = None
        self.path = Path()

    def __enter__(self) -> Self:
        self._parent = tempfile.TemporaryDirectory(prefix="assay-ab-")
        self.path = Path(self._parent.name) / self.commit[:12]
        self._git("worktree", "add", "--detach", "--force", str(self.path), self.commit)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._parent is not None
        subprocess.run(
            ["git", "worktree", "remove", "--force", str(self.path)],
            cwd=self.repository, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        self._parent.cleanup()

    def inside(self, path: Path) -> Path:
        """Where a file of the working tree is in this revision."""
        found = self.path / path.resolve().relative_to(self.repository)
        if not found.exists():
            raise MissingInRevision(f"rev={self.revision}: {path.name} does not exist in that revision")
        return found

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repository, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode:
            why = done.stderr.strip().splitlines()
            raise UsageError(f"rev={self.revision}: {why[-1] if why else 'git knows no such revision'}")
        return done.stdout.strip()


def repository_root(path: Path) -> Path:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"], cwd=path, capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise UsageError(f"git cannot be run: {error}") from None
    if done.returncode:
        raise UsageError(f"{path} is not inside a git repository, so it has no revisions to compare")
    return Path(done.stdout.strip()).resolve()


_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")

HELP = (
    "rev=REVISION (checked out apart), interpreter=PATH, args='WORDS' (added), UPPER_CASE=VALUE (environment), "
    "a.b=VALUE (as --set), anything else is an argument: workers=4 becomes --workers 4"
)


@dataclass(frozen=True)
class Variant:
    """One side of an A/B: what is different about it."""

    label: Literal["a", "b"]
    revision: str | None = None
    interpreter: str | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    more: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()

    @classmethod
    def parse(cls, label: Literal["a", "b"], words: Sequence[str]) -> Variant:
        variant = cls(label)
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not key:
                raise UsageError(f"--{label} {word}: write KEY=VALUE; {HELP}")
            variant = variant._with(key, value, word)
        return variant

    def _with(self, key: str, value: str, word: str) -> Variant:
        if key == "rev":
            return replace(self, revision=value)
        if key == "interpreter":
            return replace(self, interpreter=value)
        if key == "args":
            return replace(self, more=(*self.more, *shlex.split(value)))
        if _VARIABLE.fullmatch(key):
            return replace(self, environment={**self.environment, key: value})
        if "." in key:
            return replace(self, overrides=(*self.overrides, word))
        return replace(self, arguments=(*self.arguments, (key.lstrip("-"), value)))

    def apply(self, entry: Entry) -> Entry:
        program, interpreter = entry.program, entry.interpreter
        if self.interpreter is not None:
            if entry.script is None:
                raise UsageError(f"--{self.label} interpreter={self.interpreter}: {entry.name} is not a Python script")
            program = (self.interpreter, *entry.program[1:])
            interpreter = self.interpreter if entry.script.suffix == ".py" else None
        args = entry.args
        for name, value in self.arguments:
            args = _replace_option(args, name, _literal(value))
        args = (*args, *map(_literal, self.more))
        env = {**entry.env, **self.environment}
        return replace(entry, program=program, interpreter=interpreter, args=args, env=env)

    @property
    def words(self) -> str:
        said = [
            *([f"rev={self.revision}"] if self.revision else []),
            *([f"interpreter={self.interpreter}"] if self.interpreter else []),
            *(f"{name}={value}" for name, value in self.arguments),
            *self.more,
            *(f"{name}={value}" for name, value in self.environment.items()),
            *self.overrides,
        ]
        return " ".join(said) or "as it is"


def _replace_option(args: tuple[str, ...], name: str, value: str) -> tuple[str, ...]:
    """The value after `--name` (or `--na-me` for `na_me`), wherever it stands; added where it does not."""
    options = {f"--{name}", f"--{name.replace('_', '-')}"}
    found: list[str] = []
    words = iter(args)
    seen = False
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in options:
            found.append(word)
            continue
        seen = True
        if equals:
            found.append(f"{option}={value}")
        else:
            next(words, None)
            found += [option, value]
    return tuple(found) if seen else (*args, f"--{name.replace('_', '-')}", value)


def _literal(word: str) -> str:
    """Braces in what the user wrote are not placeholders of ours."""
    return word.replace("{", "{{").replace("}", "}}")
