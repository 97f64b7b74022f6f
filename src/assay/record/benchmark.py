"""The help of a benchmark program, read from its source: its parameters are asked for only while it runs."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.files.json_text import encode
from assay.files.writing import write_atomic
from assay.names import unknown
from assay.record import PARAMS_FILE, TASKS_FILE, TASKS_PICKLE
from assay.record.command_line import Words
from assay.record.metric import DETAILS, VALUES, Better, Metric, apart
from assay.record.results_file import write_warnings
from assay.record.task import Task, TaskPerf
from assay.record.tasks_file import pickle_tasks, write_tasks

_UNREAD = "(worked out by the program)"


@dataclass(frozen=True)
class AskedParameter:
    name: str
    default: str
    flag: bool

    @property
    def option(self) -> str:
        words = f"--{self.name.replace('_', '-')}"
        return words if self.flag else f"{words} {self.name.upper()}"


def program_help(path: Path) -> str | None:
    """None where no parameter is asked for by a name that stands in the source: the program may have its own help."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    asked = _parameters(tree)
    if not asked:
        return None
    rows = [(one.option, f"default: {one.default}") for one in asked]
    rows.append(("--benchmark-results-path DIR", "where results go; without it they are printed"))
    width = max(len(option) for option, _ in rows)
    options = [f"  {option:{width}}  {words}" for option, words in rows]
    described = ast.get_docstring(tree)
    head = [f"usage: {path.name} [options]", "", *([described, ""] if described else []), "options:"]
    return "\n".join([*head, *options])


def _parameters(tree: ast.AST) -> list[AskedParameter]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    found: dict[str, AskedParameter] = {}
    for call in calls:
        named = {word.arg: word.value for word in call.keywords}
        name, default = [*call.args, None, None][:2]
        name, default = name or named.get("name"), default or named.get("default")
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "param" and default is not None):
            continue
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            found.setdefault(name.value, _parameter(name.value, default))
    return list(found.values())


def _parameter(name: str, default: ast.expr) -> AskedParameter:
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return AskedParameter(name, _UNREAD, flag=False)
    return AskedParameter(name, str(value), flag=isinstance(value, bool))


T = TypeVar("T", bool, int, float, str)
RESULTS_PATH = "benchmark-results-path"


class Benchmark:
    """What a benchmark's author holds inside `with assay.benchmark() as b`."""

    def __init__(self, argv: Sequence[str] | None = None, workload_version: int | str | None = None) -> None:
        words = _own_words() if argv is None else list(argv)
        if not {"--help", "-h"}.isdisjoint(words):
            _print_help()
        self._words = Words(words)
        path = self._words.take(RESULTS_PATH)
        self.results_path = None if path is None else Path(path)
        """None when the program is run alone, without `--benchmark-results-path`: results are then printed."""
        self._params: dict[str, Any] = {} if workload_version is None else {"workload_version": workload_version}
        self._asked: list[str] = []
        self._handed: list[str] = []
        self._metrics: dict[str, Metric] = {}
        self._tasks: list[TaskPerf] = []
        self._warnings: list[str] = []
        self._tasks_before = len(Task.get_all_tasks())
        self._start = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the block began."""
        return time.perf_counter() - self._start

    def param(self, name: str, default: T) -> T:
        """`--name VALUE` of the command line, as the default's type. What was used goes to params.json."""
        word = self._words.take(name.replace("_", "-"), name, flag=isinstance(default, bool))
        value = default if word is None else _convert(name, word, default)
        self._params[name] = value
        self._asked.append(name)
        return value

    def params(self, **values: Any) -> None:
        """Parameters that a program has which reads its command line itself; they go to params.json."""
        self._handed += values
        self._params.update(values)

    def metric(
        self,
        name: str,
        value: Any = None,
        *,
        unit: str | None = None,
        better: Better | None = None,
        samples: Iterable[float] = (),
        exact: bool = False,
        margin: float | None = None,
    ) -> None:
        """Keeps a metric. With `samples` and no value, the value is their median. `exact`: any change of it counts,
        from one run; `margin`: share beyond which a change counts, 0.05 is 5%."""
        measured = tuple(float(sample) for sample in samples)
        if value is None and measured:
            value = _median(measured)
        self._metrics[name] = Metric(name, value, unit, better, measured, exact, margin)

    def metrics(self, **values: Any) -> None:
        for name, value in values.items():
            self.metric(name, value)

    def counts(self, **values: Any) -> None:
        """Exact metrics: what the same data always gives, such as rows."""
        for name, value in values.items():
            self.metric(name, value, exact=True)

    def add_metric(self, metric: Metric) -> None:
        self._metrics[metric.name] = metric

    def task(self, name: str) -> Task:
        """`with b.task("load"): …` times a block."""
        return Task(name)

    def add_tasks(self, tasks: Iterable[TaskPerf]) -> None:
        self._tasks.extend(tasks)

    def warn(self, message: str) -> None:
        """Said at once on the terminal, and kept among the warnings of the run's record."""
        print(f"warning: {message}", file=sys.stderr)
        self._warnings.append(message)

    def finish(self, success: bool) -> None:
        self._metrics.setdefault("is_success", Metric("is_success", success))
        if not success:
            self._metrics["is_success"] = Metric("is_success", False)
        if self.results_path is None:
            self._print()
        else:
            self._write(self.results_path)

    def unknown_words(self) -> list[str]:
        """A message for each argument that no parameter took. Complete only when the block ends, since parameters are
        asked for where they are used. A program that hands over parameters and asks for none has its own parser."""
        if self._handed and not self._asked:
            return []
        names = {f"--{name.replace('_', '-')}" for name in self._handed}
        left = [word for word in self._words.find_unused() if word.replace("_", "-") not in names]
        known = [f"--{name.replace('_', '-')}" for name in [*self._asked, *self._handed]]
        hint = "" if known else "; a program that reads its own arguments says so: b.params(**vars(args))"
        return [unknown("argument", word, known) + hint for word in left]

    def _write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        tasks = [*Task.get_all_tasks()[self._tasks_before :], *self._tasks]
        if tasks:
            write_tasks(folder / TASKS_FILE, tasks)
            pickle_tasks(folder / TASKS_PICKLE, tasks)
        write_warnings(folder, self._warnings)
        write_atomic(folder / PARAMS_FILE, encode(self._params, indent=2))
        values, details = apart(self._metrics.values())
        if details:
            write_atomic(folder / DETAILS, encode(details, indent=2))
        write_atomic(folder / VALUES, encode(values, indent=2))

    def _print(self) -> None:
        for metric in self._metrics.values():
            print(f"{metric.name}: {metric.value}{' ' + metric.unit if metric.unit else ''}")


@contextmanager
def benchmark(argv: Sequence[str] | None = None, *, workload_version: int | str | None = None) -> Iterator[Benchmark]:
    """Writes the result files when the block ends, `is_success: false` among them if it raises.

    Change `workload_version` when old and new results can't be compared: a new series starts."""
    running = Benchmark(argv, workload_version)
    try:
        yield running
    except BaseException as error:
        running.finish(success=isinstance(error, SystemExit) and error.code in (0, None))
        raise
    wrong = running.unknown_words()
    running.finish(success=not wrong)
    if wrong:
        # A misspelt argument: what ran is not what was asked for.
        print("\n".join(wrong), file=sys.stderr)
        raise SystemExit(2)


def _own_words() -> list[str]:
    """The command line, unless it is that of a notebook's kernel or of pytest."""
    program = Path(sys.argv[0] if sys.argv else "")
    runner = program.parent.name if program.stem == "__main__" else program.stem
    return [] if runner.endswith("kernel_launcher") or runner in ("pytest", "py.test") else sys.argv[1:]


def _print_help() -> None:
    """Ends the program before anything is measured, unless its source names no parameter: it may have its own help."""

    path = getattr(sys.modules.get("__main__"), "__file__", None)
    text = program_help(Path(path)) if path else None
    if text is not None:
        print(text)
        raise SystemExit(0)


def _convert(name: str, word: str, default: T) -> T:
    if isinstance(default, bool):
        if word.lower() in ("true", "yes", "on", "1", ""):
            return True
        if word.lower() in ("false", "no", "off", "0"):
            return False
        raise SystemExit(f"--{name}: {word!r} is neither true nor false")
    try:
        return type(default)(word)
    except ValueError:
        raise SystemExit(f"--{name}: {word!r} is not of type {type(default).__name__}") from None


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
