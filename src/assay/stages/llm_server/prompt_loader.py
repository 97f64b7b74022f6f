from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.stages.pytorch.tiny_rows import tiny_rows
from assay.untrusted.read_limit import NAMED
from assay.untrusted.text_file import read_text
from assay.untrusted.unreadable import Unreadable


class PromptLoader(Stage[int, str]):
    """Texts for a server: given here, read from a file with one a line, or made up. Query n gets text n."""

    name = "prompt loader"

    def __init__(self, prompts: Sequence[str] | None = None, path: str | None = None) -> None:
        if prompts is not None and path is not None:
            raise ValueError("prompts and path: give one of them")
        if prompts is not None and (isinstance(prompts, str) or not prompts):
            raise ValueError("prompts must be a list of at least one text")
        self.given = prompts
        self.path = path
        self._prompts: list[str] = []

    def setup(self, worker: Worker) -> None:
        if self.given is not None:
            self._prompts = [str(prompt) for prompt in self.given]
        elif self.path is not None:
            self._prompts = _lines(Path(self.path).expanduser())
        else:
            self._prompts = [f"{row.instruction} {row.input}".strip() for row in tiny_rows()]

    def __len__(self) -> int:
        return len(self._prompts)

    def process(self, data: int) -> str:
        return self._prompts[data % len(self._prompts)]


def _lines(path: Path) -> list[str]:
    try:
        lines = [line.strip() for line in read_text(path, NAMED).splitlines() if line.strip()]
    except FileNotFoundError:
        raise UsageError(f"PromptLoader: path: {path} does not exist") from None
    except Unreadable as error:
        raise UsageError(f"PromptLoader: path: {error}") from None
    if not lines:
        raise UsageError(f"PromptLoader: path: {path} has no line with a prompt")
    return lines
