from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Protocol

from assay.sinks.sink import Sink


class RunLogger(Protocol):
    """The older form of a sink: told of a session piece by piece."""

    def start_session(self, session_name: str) -> None: ...
    def start_run(self, run_name: str) -> None: ...
    def log_params(self, params: dict[str, Any]) -> None: ...
    def log_metrics(self, metrics: dict[str, Any]) -> None: ...
    def log_artifact(self, path: str) -> None: ...
    def end_run(self, success: bool) -> None: ...
    def end_session(self, success: bool) -> None: ...


class RunLoggerSink(Sink):
    """Drives a sink of the older form. A run is told in one go when it is over, so that a run that is delivered
    again after a crash begins with `start_run` again."""

    def __init__(self, logger: RunLogger) -> None:
        super().__init__()
        self.logger = logger

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self.logger.start_session(session_name)

    def process_result(self, result: dict[str, Any]) -> None:
        self.logger.start_run(result["name"])
        success = False
        try:
            self.logger.log_params(result["script_params"])
            self.logger.log_metrics({**result["script_metrics"], "exec_time_s": result["exec_time_s"]})
            for file in self._files(result):
                self.logger.log_artifact(str(file))
            success = bool(result["success"])
        except BaseException:
            with contextlib.suppress(Exception):
                self.logger.end_run(False)
            raise
        self.logger.end_run(success)
        if not success:
            self.context.memory["a run failed"] = True

    def finalize(self) -> None:
        self.logger.end_session("a run failed" not in self.context.memory)

    def _files(self, result: dict[str, Any]) -> list[Path]:
        named = [result.get("stdouterr_file") or "", *result.get("files", {}).values()]
        found = [self.context.folder / name for name in named if name]
        found += sorted((self.context.folder / "artifacts").glob("*"))
        return [path for path in found if path.is_file()]
