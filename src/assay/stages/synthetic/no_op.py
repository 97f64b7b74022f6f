from __future__ import annotations

from typing import Any

from assay.pipeline.stage import Stage


class NoOp(Stage[Any, Any]):
    """Returns what it was given: what remains is the cost of measuring."""

    name = "no-op"

    def process(self, data: Any) -> Any:
        return data
