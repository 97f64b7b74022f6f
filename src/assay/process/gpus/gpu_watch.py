"""What a tree of processes uses of GPUs, as the driver's library (NVML) tells."""

import sys
import time

from assay.process.gpus.watched_gpu import COLUMNS, WatchedGpu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class GpuWatch:
    """The GPUs named as CUDA_VISIBLE_DEVICES names them: a number, `GPU-…` or `MIG-…`."""

    columns = COLUMNS

    def __init__(self, names: "Iterable[str]", library: str, certain: bool) -> None:
        """`library`: folder that holds pynvml. `certain`: they are the tree's even where none of it is seen on them."""
        self.problem = ""
        """Why nothing is known."""
        self._gpus: list[WatchedGpu] = []
        self._end: tuple[float, float] | None = None
        try:
            sys.path.append(library)
            import pynvml

            self._nvml: Any = pynvml
            pynvml.nvmlInit()
        except ImportError as error:
            self.problem = str(error)
            return
        except pynvml.NVMLError as error:
            self.problem = f"NVML: {error}"
            return
        finally:
            sys.path.remove(library)
        for name in names:
            try:
                self._gpus.append(WatchedGpu(pynvml, name, certain))
            except pynvml.NVMLError as error:
                self.problem = f"GPU {name}: NVML: {error}"

    def sample(self, pids: "set[int]") -> "list[float | None]":
        """A value a column: the sum over the tree's GPUs, None where one of them does not tell."""
        at = time.monotonic()
        rows = [gpu.sample(pids, at) for gpu in self._gpus]
        used = [row for gpu, row in zip(self._gpus, rows, strict=True) if gpu.used]
        columns = zip(*used, strict=True) if used else [()] * len(COLUMNS)
        return [_sum(values) for values in columns]

    def end(self) -> None:
        """The program has ended, between two samples: energy up to here is its own as well."""
        if self._end is None:
            at, energy = time.monotonic(), self.sample(set())[COLUMNS.index("gpu_energy_j")]
            self._end = (at, energy) if energy is not None else None

    def finish(self, started: float) -> "dict[str, Any]":
        """`started`: the moment, on the monotonic clock, that the times of the rows count from."""
        gpus = [gpu.summary() for gpu in self._gpus if gpu.used]
        return {"gpus": gpus, "gpu_problem": self.problem, "sampled_from_s": started, "gpu_end": self._end}


def _sum(values: "Iterable[float | None]") -> float | None:
    known = list(values)
    return None if not known or None in known else sum(value for value in known if value is not None)
