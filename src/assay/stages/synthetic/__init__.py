"""Stages that do one thing to the machine: antagonists that show what a pipeline beside them is sensitive to.

The idea of one tunable antagonist a resource is iBench's (Delimitrou and Kozyrakis, IISWC 2013).
"""

from assay.stages.synthetic.busy_cpu import BusyCpu
from assay.stages.synthetic.cache_thrash import CacheThrash
from assay.stages.synthetic.disk import Disk
from assay.stages.synthetic.faults import Crash, Hang, Raise, Stall
from assay.stages.synthetic.memory_bandwidth import MemoryBandwidth
from assay.stages.synthetic.no_op import NoOp
from assay.stages.synthetic.pass_through import PassThrough
from assay.stages.synthetic.payload_copy import PayloadCopy
from assay.stages.synthetic.samples import Samples
from assay.stages.synthetic.sleep import Sleep
from assay.stages.synthetic.stream import Stream

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
