"""A probe is a module beside this one that measures in a new interpreter: `answer(question, settings)` gives all
that there is to say, one thing after the other. Question and answers are lines of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from assay.benchmarks.weight_scenarios.scenario_data import model_digests
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import StoreKind, store_kind
from assay.errors import DataError


def ask_fresh_process(probe: str, question: Mapping[str, Any], settings: SuiteSettings, timeout: float = 600.0) -> Any:
    """The last answer of a probe."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, probe],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        timeout=timeout,
        env=_environment(settings),
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise DataError(f"the {probe} probe ended with code {done.returncode}: {last}")
    return json.loads(done.stdout.splitlines()[-1])


class Probe:
    """A probe that answers line by line, for as long as a `with` block: one that has not ended by then is killed."""

    def __init__(self, probe: str, settings: SuiteSettings) -> None:
        self._name = probe
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, probe],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=_environment(settings),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.running:
            self._process.kill()
        self._process.wait()
        self._questions.close()
        self._answers.close()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def tell(self, question: Mapping[str, Any] | str) -> None:
        self._questions.write(json.dumps(question) + "\n")
        self._questions.flush()

    def answers(self) -> Iterator[dict[str, Any]]:
        return map(json.loads, self._answers)

    def hear(self) -> dict[str, Any]:
        """The next answer."""
        for answer in self.answers():
            return answer
        raise DataError(f"the {self._name} probe ended with code {self.wait()} before it answered")

    def wait(self) -> int:
        return self._process.wait()


def start_seconds() -> float:
    """How long a new interpreter takes to be ready with numpy, which every probe needs."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True, env=_environment(SuiteSettings()))
    return time.perf_counter() - start


def _environment(settings: SuiteSettings) -> dict[str, str]:
    # The child finds this package where we found it, installed or not.
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, **settings.export(), **settings.without_simd(), "PYTHONPATH": path}


def main(probe: str) -> None:
    module = import_module(f"assay.benchmarks.weight_probes.{probe}")
    for answer in module.answer(json.loads(sys.stdin.readline()), SuiteSettings.from_environment()):
        print(json.dumps(answer), flush=True)


# Opens stores that another process wrote, and says what it finds there: dtype, shape and digest of every tensor.


def answer(question: dict[str, Any], settings: SuiteSettings) -> Iterator[Any]:
    kind = store_kind(question["store"], settings)
    yield [_read(kind, Path(case["path"]), case["refs"]) for case in question["cases"]]


def _read(kind: StoreKind, path: Path, refs: list[str]) -> list[dict[str, str] | str]:
    found: list[dict[str, str] | str] = []
    with kind.use(path) as store:
        for ref in refs:
            try:
                found.append(model_digests(store.load(ref)))
            except Exception as error:  # noqa: BLE001  any store may be asked; its error is the answer
                found.append(f"{type(error).__name__}: {error}")
    return found


if __name__ == "__main__":
    main(sys.argv[1])
