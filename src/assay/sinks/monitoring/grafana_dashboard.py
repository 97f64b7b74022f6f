"""The dashboard that is shipped: `assay sinks dashboard > assay.json`, then import it into Grafana. It asks for its
Prometheus data source when it is imported."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def dashboard() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(
        files("assay.sinks.monitoring").joinpath("dashboards/assay.json").read_text("utf-8")
    )
    return written
