from __future__ import annotations

import time
from typing import Any

from assay.pipeline.stage import Stage


class Sleep(Stage[Any, Any]):
    """Waits, as for a device or a service, without using a core."""

    name = "sleep"

    def __init__(self, seconds: float = 0.001) -> None:
        if seconds < 0:
            raise ValueError(f"seconds must not be negative, not {seconds}")
        self.seconds = seconds

    def process(self, data: Any) -> Any:
        time.sleep(self.seconds)
        return data
