"""Stages that stand for one that uses a GPU: the stand-in of the driver's library is told of their process."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric


class OnGpu(Stage[Any, Any]):
    name = "on_gpu"

    def __init__(self, megabytes: int = 0, percent: int = 0) -> None:
        self.megabytes, self.percent = megabytes, percent

    def setup(self, worker: Worker) -> None:
        self.device = worker.device
        with open(os.environ["NVML_PROCESSES"], "a") as out:
            out.write(f"0 {os.getpid()} {self.megabytes} {self.percent}\n")

    def process(self, data: Any) -> Any:
        time.sleep(0.01)
        return data

    def measured(self) -> Sequence[Metric]:
        return (Metric("answer_tokens", 400), Metric("rows", 20))

    def notes(self) -> Sequence[str]:
        names = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "GREETING")
        return (f"device {self.device}", *(f"{name}={os.environ[name]}" for name in names if name in os.environ))
