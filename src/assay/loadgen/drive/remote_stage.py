from __future__ import annotations

import pickle
import signal
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from assay.fallback.stand_ins import install
from assay.loadgen.pacing import end_with_parent
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage, StreamStage
from assay.record.metric import Metric


class RemoteStage(Stage[Any, Any]):
    """A stage in a process of its own; payloads are pickled there and back. Who calls it waits without the GIL."""

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self._stage = stage
        self.name = stage.name

    def setup(self, worker: Worker) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(pickle.dumps(self._stage), worker, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._answer()

    def process(self, data: Any) -> Any:
        try:
            self._pipe.send((None, data))
        except BrokenPipeError:
            raise self._death() from None
        return self._answer()

    def start_measuring(self) -> None:
        self._ask("start_measuring")

    def measured(self) -> Sequence[Metric]:
        answer: Sequence[Metric] = self._ask("measured")
        return answer

    def notes(self) -> Sequence[str]:
        answer: Sequence[str] = self._ask("notes")
        return answer

    def _ask(self, method: str) -> Any:
        self._pipe.send((method, None))
        return self._answer()

    def _answer(self) -> Any:
        try:
            good, value = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._death() from None
        if good:
            return value
        raise RuntimeError(value)

    def _death(self) -> RuntimeError:
        self._process.join(5)
        code = self._process.exitcode
        how = (
            f"killed by {signal.Signals(-code).name}"
            if code is not None and code < 0
            else f"ended with exit code {code}"
        )
        return RuntimeError(f"the stage's process was {how}" if code and code < 0 else f"the stage's process {how}")

    def teardown(self) -> None:
        self._pipe.close()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pickled: bytes, worker: Worker, pipe: Connection) -> None:
    end_with_parent()
    install()  # Before the stage's module is imported.
    try:
        stage: Stage[Any, Any] = pickle.loads(pickled)  # noqa: S301 - ours, from who has started this process
        stage.setup(worker)
        pipe.send((True, None))
    except Exception as error:  # noqa: BLE001  (reported to who asked)
        pipe.send((False, f"setup: {type(error).__name__}: {error}"))
        return
    while True:
        try:
            method, data = pipe.recv()
        except EOFError:
            break
        try:
            if method is not None:
                pipe.send((True, getattr(stage, method)()))
                continue
            result = stage.process(data)
            pipe.send((True, stage.collected(list(result)) if isinstance(stage, StreamStage) else result))
        except Exception as error:  # noqa: BLE001  (reported to who asked)
            pipe.send((False, f"{type(error).__name__}: {error}"))
    stage.teardown()
