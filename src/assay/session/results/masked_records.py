from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.files.json_text import encode
from assay.files.writing import write_atomic
from assay.record import Environment, Record, SessionFolder
from assay.record.results_file import append_record
from assay.record.secrets import Masker, is_secret, secret_variables, secrets_of_text, secrets_of_words
from assay.session.workspace import Reserve, make_way


def session_masker(plan: Plan, environment: Mapping[str, str], command: Iterable[str] = ()) -> Masker:
    """Knows every secret of a session: from the environment, its files, `--set`, and the words of its commands."""
    return Masker(environment, [*_found(plan, list(command)), *_find_named(plan, environment, list(command))])


def mask_inputs(inputs: Mapping[str, Any], masker: Masker) -> dict[str, Any]:
    """Inputs as session.json keeps them: a secret is `***NAME***`, the variable that `--resume` and `rerun` ask for."""
    masked: dict[str, Any] = masker.value(dict(inputs))
    for key in ("set", "command"):
        if inputs.get(key):
            masked[key] = masker.words(list(inputs[key]))
    for key in ("commands", "prepare", "cleanup"):
        if inputs.get(key):
            masked[key] = [masker.script(str(line)) for line in inputs[key]]
    return masked


def mask_environment(environment: Environment, masker: Masker) -> Environment:
    """The environment with secrets masked in the texts that people chose."""
    branch, image = environment.git_branch, environment.container_image
    return replace(
        environment,
        git_branch=masker.text(branch) if branch else branch,
        container_image=masker.text(image) if image else image,
    )


def _found(plan: Plan, command: list[str]) -> Iterator[tuple[str, str]]:
    yield from secrets_of_words(command)
    yield from secrets_of_words(map(str, plan.inputs.get("set") or ()))
    yield from secrets_of_words(map(str, plan.inputs.get("command") or ()))
    for key in ("commands", "prepare", "cleanup"):
        for line in plan.inputs.get(key) or ():
            yield from secrets_of_words(_words(str(line)))
    for entry in plan.entries:
        yield from _of_entry(entry)
    for sink in plan.sinks:
        yield from _of_mapping(sink)


def _find_named(plan: Plan, environment: Mapping[str, str], command: list[str]) -> Iterator[tuple[str, str]]:
    """Secrets in variables of any name, where an option says that they are: `--api-key-env MY_KEY`."""
    for words in (command, *(entry.args for entry in plan.entries)):
        for name in secret_variables(words):
            yield name, environment.get(name, "")


def _of_entry(entry: Entry) -> Iterator[tuple[str, str]]:
    yield from _of_variables(entry.env)
    yield from secrets_of_words(map(_unescape, (*entry.program, *entry.args)))
    if entry.service is not None:
        yield from _of_variables(entry.service.env)
        yield from secrets_of_words(map(_unescape, entry.service.command))
        yield from secrets_of_text(_unescape(entry.service.url))
    yield from _of_mapping(entry.sink_data)


def _of_variables(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in variables.items():
        written = _unescape(value)
        if is_secret(name, written):
            yield name, written
        yield from secrets_of_text(written)


def _of_mapping(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _of_mapping(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _of_mapping(item, name)
    elif isinstance(value, str):
        if is_secret(name, value):
            yield name.upper(), value
        yield from secrets_of_text(value)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a script for a shell, whose quotes only the shell can tell
        return line.split()


def _unescape(text: str) -> str:
    """The text with doubled braces single again: they are doubled where placeholders are put in."""
    return text.replace("{{", "{").replace("}}", "}")


class KeptRecords:
    """The records of a session, in memory and on disk: its own file, which decides what was finished, and a copy beside
    each entry.

    A program can reach both. What it puts in place of the session's file is moved aside, and a file that it changed or
    removed is written anew. A file that cannot be written (a full disk) costs nothing that is here: every later record,
    and the end of the session, tries the whole again.
    """

    def __init__(self, folder: SessionFolder, reserve: Reserve) -> None:
        self._results = folder.results
        self._reserve = reserve
        self._size = self._current_size()
        self.problem = ""
        """Why records are not on disk now; nothing where they are."""

    def keep(self, record: Record, records: list[Record]) -> None:
        """`records`: all of the session, this one among them."""

        def write() -> None:
            make_way(self._results)
            append_record(self._results, record)

        if self.problem or self._current_size() != self._size or self._fails(write):
            self.save(records)
        else:
            self._size = self._current_size()

    def save(self, records: list[Record]) -> None:
        """Writes all anew, in place of whatever is there."""
        text = "".join(f"{encode(record.to_json())}\n" for record in records)

        def write() -> None:
            make_way(self._results)
            self._results.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self._results, text)

        self.problem = self._fails(write)
        self._size = self._current_size()

    def keep_beside(self, path: Path, record: Record) -> str:
        """A second copy, in the entry's own folder. Why it could not be written, or nothing."""

        def write() -> None:
            make_way(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            append_record(path, record, sync=False)

        return self._fails(write)

    def _fails(self, write: Callable[[], None]) -> str:
        try:
            self._reserve.writing(write)
        except OSError as error:
            return f"{error.strerror or error}: {error.filename or self._results}"
        return ""

    def _current_size(self) -> int:
        try:
            return self._results.stat().st_size
        except OSError:
            return 0
