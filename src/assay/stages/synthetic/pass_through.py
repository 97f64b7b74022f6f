from __future__ import annotations

from assay.stages.synthetic.no_op import NoOp


class PassThrough(NoOp):
    """Where branches meet, or a query ends. As the data set it is one sample."""

    name = "pass-through"

    def __len__(self) -> int:
        return 1
