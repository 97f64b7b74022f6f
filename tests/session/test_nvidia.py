"""The driver's versions, from a stand-in for its library that the real nvidia-ml-py loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.doctor import _gpus
from assay.session import machine
from assay.session.machine import Nvidia

LIBRARY = r"""
#include <string.h>
#ifndef FAILS
#define FAILS 0
#endif
int nvmlInitWithFlags(unsigned flags) { return 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return code == 3 ? "Not Supported" : "Unknown Error"; }
int nvmlSystemGetDriverVersion(char *out, unsigned size) { strncpy(out, "550.54.15", size); return 0; }
int nvmlSystemGetCudaDriverVersion(int *out) { *out = 12040; return FAILS; }
int nvmlSystemGetCudaDriverVersion_v2(int *out) { *out = 12040; return FAILS; }
int nvmlDeviceGetCount_v2(unsigned *out) { *out = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned at, void **out) { *out = (void *)(unsigned long)(at + 1); return 0; }
int nvmlDeviceGetName(void *device, char *out, unsigned size) { strncpy(out, "NVIDIA H100", size); return 0; }
"""
ASK = """
import json, sys, dataclasses, pathlib
from assay.session.capture_environment import capture_environment
from assay.session.machine import nvidia
environment = capture_environment(pathlib.Path("."), pathlib.Path(sys.argv[1]))
print(json.dumps([dataclasses.asdict(nvidia()), environment.to_json()]))
"""


def asked(tmp_path: Path, *options: str) -> tuple[dict[str, object], dict[str, object]]:
    source = tmp_path / "nvml.c"
    source.write_text(LIBRARY)
    library = str(tmp_path / "libnvidia-ml.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", *options, "-o", library, str(source)], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    command = [sys.executable, "-c", ASK, str(tmp_path / "artifacts")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, recorded = json.loads(done.stdout)
    return found, recorded


def test_driver_and_cuda_versions_are_in_the_environment(tmp_path: Path) -> None:
    found, recorded = asked(tmp_path)
    names = ["NVIDIA H100", "NVIDIA H100"]
    assert found == {"gpus": names, "driver": "550.54.15", "cuda": "12.4", "problem": ""}
    assert (recorded["gpus"], recorded["gpu_driver"], recorded["cuda"]) == (names, "550.54.15", "12.4")


def test_a_driver_that_refuses_an_answer_is_told_and_stops_nothing(tmp_path: Path) -> None:
    found, recorded = asked(tmp_path, "-DFAILS=3")
    assert found["problem"] == "NVML: Not Supported"
    assert (recorded["gpus"], recorded["cuda"]) == ([], None)


def test_without_a_driver_nothing_is_recorded_and_the_reason_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(machine, "MODULE", Path("/no/such/file"))
    found = machine.nvidia.__wrapped__()
    assert found == Nvidia(problem="nvidia-ml-py is not installed: pip install 'assay-bench[gpu]'")
    assert _gpus(found).detail == (
        "none found (nvidia-ml-py is not installed: pip install 'assay-bench[gpu]'), no driver;"
        " entries with `gpus:` will fail"
    )


@pytest.mark.parametrize(
    "said",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 24 22:09:50 UTC 2024\nGCC version: 12.2.0",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.161.08  Release Build  (root@host)",
    ],
)
def test_the_kernels_module_tells_the_driver_where_python_cannot(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(machine, "MODULE", tmp_path / "version")
    (tmp_path / "version").write_text(said)
    assert machine.nvidia.__wrapped__().driver == "535.161.08"


def test_doctor_names_gpu_driver_and_cuda() -> None:
    found = Nvidia(("NVIDIA H100",), "550.54.15", "12.4")
    assert _gpus(found).detail == "NVIDIA H100; driver 550.54.15, CUDA up to 12.4"
