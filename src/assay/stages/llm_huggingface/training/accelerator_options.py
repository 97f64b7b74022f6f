from __future__ import annotations

from typing import Any

from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.options import Options


class AcceleratorOptions(Options):
    is_enabled: bool = False

    def build(self, device: Any) -> Any:
        """An `accelerate.Accelerator`, or None. The model is on its device already, so it is not moved again."""
        if not self.is_enabled:
            return None
        return library("accelerate", "llm").Accelerator(cpu=device.type == "cpu", device_placement=False)
