"""Stages that do one thing to the machine: antagonists that show what a pipeline beside them is sensitive to.

The idea of one tunable antagonist a resource is iBench's (Delimitrou and Kozyrakis, IISWC 2013).
"""

from assay.stages.synthetic.antagonists import BusyCpu, CacheThrash, Disk, MemoryBandwidth
from assay.stages.synthetic.faults import Crash, Hang, Raise, Stall
from assay.stages.synthetic.plain_stages import NoOp, PassThrough, PayloadCopy, Samples, Sleep, Stream

__all__ = [
    "BusyCpu",
    "CacheThrash",
    "Crash",
    "Disk",
    "Hang",
    "MemoryBandwidth",
    "NoOp",
    "PassThrough",
    "PayloadCopy",
    "Raise",
    "Samples",
    "Sleep",
    "Stall",
    "Stream",
]
