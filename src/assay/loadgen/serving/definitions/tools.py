from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from assay.loadgen.serving.definitions.aiperf import aiperf_figures
from assay.loadgen.serving.definitions.guidellm import guidellm_figures
from assay.loadgen.serving.definitions.tool_figure import ToolFigure
from assay.loadgen.serving.definitions.vllm import vllm_figures
from assay.loadgen.serving.measured.load_point import LoadPoint

TOOLS: Final[Mapping[str, Callable[[LoadPoint], list[ToolFigure]]]] = {
    "vllm": vllm_figures,
    "guidellm": guidellm_figures,
    "aiperf": aiperf_figures,
}
_PERCENTS = (50, 95, 99)


def tool_text(tool: str, point: LoadPoint) -> str:
    """The run under another tool's definitions: from the send, of the answered requests."""
    lines = [f"As {tool} defines it (from the send, ms):"]
    lines.append(f"  {'':<45}{'mean':>8}" + "".join(f"{f'p{percent}':>8}" for percent in _PERCENTS))
    for figure in TOOLS[tool](point):
        marks = [figure.mean_ms, *(figure.percentile_ms(percent) for percent in _PERCENTS)]
        lines.append(f"  {figure.name:<45}" + "".join(f"{_format_ms(mark):>8}" for mark in marks))
    return "\n".join(lines)


def _format_ms(ms: float) -> str:
    return f"{ms:.4g}" if ms == ms else "–"
