from __future__ import annotations

from assay.errors import AssayError
from assay.pipeline.split import Split


class PipelineError(AssayError):
    """A pipeline that cannot be built or run as asked."""


class StageFailure(PipelineError):
    """A stage raised something it did not foresee: the message names the stage and the data it was given."""

    exit_code = 1

    @classmethod
    def at(cls, stage: str, split: Split, error: BaseException) -> StageFailure:
        return cls(f"stage {stage} failed on {split}: {type(error).__name__}: {error}")


def portable(error: Exception, doing: str) -> AssayError:
    """The same error where it survives a trip between processes, otherwise its message."""
    if not isinstance(error, AssayError):
        return StageFailure(f"{doing}: {type(error).__name__}: {error}")
    import pickle  # a run that goes well starts without it

    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (our own bytes)
    except Exception:  # noqa: BLE001  (any failure to pickle is the same to us)
        return PipelineError(str(error))
    return error
