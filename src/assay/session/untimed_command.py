from __future__ import annotations

from dataclasses import replace

from assay.errors import AssayError
from assay.process.result import ProcessResult, unended_warnings
from assay.process.spec import ProcessSpec
from assay.process.supervised import Supervised
from assay.record.writing.shortened import shorten
from assay.session.folders.workspace import Workspace
from assay.session.interrupts import Interrupts
from assay.session.kept.last_words import last_words

INTERRUPTED = "interrupted"
_LOOK_EVERY_S = 0.25
_LONGEST = 400
"""Characters of what it said last."""


class UntimedCommand:
    """What `--prepare` or `--cleanup` names, run beside a program: with its environment, folder and limits, and under a
    supervisor of its own; its output goes to `logs/prepare.log` or `logs/cleanup.log`."""

    def __init__(self, name: str, argv: tuple[str, ...], interrupts: Interrupts, answered: int = 0) -> None:
        """`answered`: signals that have ended something else already; the next one ends this."""
        self._name, self._argv, self._interrupts, self._answered = name, argv, interrupts, answered
        self.interrupted = False
        self.warnings: list[str] = []

    def run(self, beside: ProcessSpec, workspace: Workspace) -> str:
        """Why it failed, in words; empty if it did not."""
        log = workspace.logs / f"{self._name}.log"
        spec = replace(
            beside, argv=self._argv, stdout=workspace.logs / f"{self._name}-stdout.log",
            stderr=workspace.logs / f"{self._name}-stderr.log", combined=log, usage_csv=None, companion=None,
            namespace=False, gpus=None,
        )  # fmt: skip
        try:
            result = self._watch(Supervised(spec))
        except OSError as error:
            result = ProcessResult(failure=error.strerror or str(error))
        except AssayError as error:
            result = ProcessResult(failure=str(error))
        self.warnings = unended_warnings(result.immortal, f" of --{self._name}")
        why = self._why(result, spec)
        return f"--{self._name} {why}" if why else ""

    def _watch(self, supervised: Supervised) -> ProcessResult:
        asked = self._answered
        try:
            for _ in supervised.statuses(_LOOK_EVERY_S):
                if self._interrupts.count > asked:
                    asked = self._interrupts.count
                    supervised.end(INTERRUPTED)
        except KeyboardInterrupt:  # from where nobody has asked `interrupts` to take signals
            supervised.end(INTERRUPTED)
        result = supervised.wait()
        self.interrupted = result.ended_because == INTERRUPTED
        return result

    def _why(self, result: ProcessResult, spec: ProcessSpec) -> str:
        if self.interrupted:
            return "was interrupted"
        if result.failure:
            return f"could not be run: {result.failure}"
        if result.ended_because == "timeout":
            return f"ran longer than the limit of {spec.timeout_s:g} s"
        if result.unseen or result.ended_because or result.returncode is None:
            return f"was ended: {result.unseen or result.ended_because or 'its end could not be seen'}"
        if result.returncode == 0:
            return ""
        said = shorten(" ".join(last_words(spec.stderr) or last_words(spec.combined)), _LONGEST)
        code = result.returncode
        how = f"exited with code {code}" if code > 0 else f"was ended by signal {-code}"
        return f"{how}: {said}" if said else how
