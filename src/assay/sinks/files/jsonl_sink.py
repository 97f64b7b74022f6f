from __future__ import annotations

from typing import Any

from assay.record.writing.strict_json import encode
from assay.sinks.files.appended_file import AppendedFile
from assay.sinks.key import Key
from assay.sinks.sink import Sink


class JsonlSink(Sink):
    summary = "one line of JSON for each run, appended to a file that many sessions may share"
    keys = (
        Key("path", "the file; a relative path is meant from the session's folder (default: sinks/results.jsonl)"),
        Key("tasks", "true: with every timed task, not only the metrics (default: false)"),
    )

    def process_result(self, result: dict[str, Any]) -> None:
        shown = result if self.config.get("tasks") else {**result, "tasks": []}
        path = self.context.folder / self.config.get("path", "sinks/results.jsonl")
        AppendedFile(path, self.context.memory, self.context.folder).append(
            self.context.message_key, encode(shown) + "\n"
        )
        self.context.announce("JSON lines", str(path))
