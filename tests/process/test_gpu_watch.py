"""GPU counters of a tree, from a stand-in for the driver's library; each counter in turn is not there."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import nvml_library
import pytest

from assay.process.gpu_watch import COLUMNS, GpuEnergy

WATCH = """
import json, os, sys, time
from assay.process.gpu_watch import GpuWatch
import pynvml
cases, found = json.loads(sys.argv[1]), []
with open(os.environ["NVML_PROCESSES"], "w") as out:
    out.write("0 41 300 30\\n0 42 700 20\\n0 99 5000 50\\n20 41 64 0\\n")
for names, certain, fails in cases:
    os.environ["NVML_FAILS"] = fails
    watch = GpuWatch(names, os.path.dirname(pynvml.__file__), certain)
    first = watch.sample({41, 42})
    time.sleep(0.05)
    found.append([first, watch.sample({41, 42}), watch.finish(5.0)])
print(json.dumps(found))
"""
WITHOUT = {
    "nvmlDeviceGetComputeRunningProcesses_v3": "gpu_memory_mb",
    "nvmlDeviceGetUtilizationRates": "gpu_device_pct",
    "nvmlDeviceGetPowerUsage": "gpu_power_w",
    "nvmlDeviceGetProcessUtilization nvmlDeviceGetAccountingMode": "gpu_pct",
    "nvmlDeviceGetPowerUsage nvmlDeviceGetTotalEnergyConsumption": "gpu_energy_j",
}
CASES: dict[str, tuple[list[str], bool, str]] = {
    "all": (["0"], True, ""),
    **{fails: (["0"], True, fails) for fails in WITHOUT},
    "no energy counter": (["0"], True, "nvmlDeviceGetTotalEnergyConsumption"),
    "accounts": (["0"], True, "nvmlDeviceGetProcessUtilization"),
    "part": ([nvml_library.PARTS[0]], True, ""),
    "beginning of a UUID": ([nvml_library.SECOND[:12]], True, ""),
    "not certain": (["0", "1"], False, ""),
    "no library": (["0"], True, "nvmlInit"),
    "no such GPU": (["7"], True, ""),
}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    environment = nvml_library.built(tmp_path_factory.mktemp("driver"))
    command = [sys.executable, "-c", WATCH, json.dumps(list(CASES.values()))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def told(case: Any) -> dict[str, float | None]:
    return dict(zip(COLUMNS, case[1], strict=True))


def test_a_tree_is_told_from_others_on_its_gpu(watched: dict[str, Any]) -> None:
    found = told(watched["all"])
    assert found["gpu_energy_j"] is not None
    assert found["gpu_energy_j"] > 0
    del found["gpu_energy_j"]
    assert found == {"gpu_pct": 50, "gpu_device_pct": 70, "gpu_memory_mb": 1000, "gpu_power_w": 100}
    assert watched["all"][2] == {
        "gpus": [
            {
                "name": "NVIDIA Stand-in",
                "uuid": nvml_library.FIRST,
                "part": False,
                "energy_source": "counter",
                "silent": [],
            }
        ],
        "gpu_problem": "",
        "sampled_from_s": 5.0,
        "gpu_end": None,
    }


@pytest.mark.parametrize("fails", WITHOUT)
def test_the_absence_of_a_counter_loses_that_counter_alone(watched: dict[str, Any], fails: str) -> None:
    lost = {column for column, value in told(watched[fails]).items() if value is None}
    also = {"gpu_power_w"} if "Energy" in fails else set()
    assert lost == {WITHOUT[fails]} | also
    assert len(watched[fails][2]["gpus"][0]["silent"]) == len(lost)


def test_without_an_energy_counter_power_is_integrated_and_it_is_said(watched: dict[str, Any]) -> None:
    case = watched["no energy counter"]
    assert told(case)["gpu_energy_j"] > 0
    assert case[2]["gpus"][0]["energy_source"] == "power"


def test_without_samples_of_utilisation_the_accounts_of_processes_are_asked(watched: dict[str, Any]) -> None:
    assert told(watched["accounts"])["gpu_pct"] == 15 + 10


def test_a_part_has_its_own_memory_and_the_whole_gpus_power(watched: dict[str, Any]) -> None:
    found = told(watched["part"])
    assert (found["gpu_memory_mb"], found["gpu_power_w"], found["gpu_device_pct"]) == (64, 50, None)
    [gpu] = watched["part"][2]["gpus"]
    assert (gpu["part"], gpu["uuid"]) == (True, nvml_library.SECOND)


def test_the_beginning_of_a_uuid_is_enough(watched: dict[str, Any]) -> None:
    assert watched["beginning of a UUID"][2]["gpus"][0]["uuid"] == nvml_library.SECOND


def test_of_gpus_that_it_may_use_those_count_on_which_the_tree_is_seen(watched: dict[str, Any]) -> None:
    assert [gpu["uuid"] for gpu in watched["not certain"][2]["gpus"]] == [nvml_library.FIRST]
    assert told(watched["not certain"])["gpu_power_w"] == 100


@pytest.mark.parametrize(
    ("case", "problem"),
    [("no library", "NVML: Not Supported"), ("no such GPU", "GPU 7: NVML: Invalid Argument")],
)
def test_what_cannot_be_watched_is_said_and_stops_nothing(watched: dict[str, Any], case: str, problem: str) -> None:
    assert set(told(watched[case]).values()) == {None}
    assert (watched[case][2]["gpus"], watched[case][2]["gpu_problem"]) == ([], problem)


def test_energy_is_the_growth_of_the_counter_and_a_driver_loaded_anew_takes_nothing_away() -> None:
    energy = GpuEnergy()
    readings = [(0.0, 500.0), (1.0, 530.0), (2.0, None), (3.0, 600.0), (4.0, 10.0), (5.0, 25.0)]
    assert [energy.add(at, counter, 7.0) for at, counter in readings] == [0, 30, None, 100, 100, 115]
    assert energy.source == "counter"


def test_power_is_integrated_between_readings() -> None:
    energy = GpuEnergy()
    readings = [(0.0, None), (1.0, 100.0), (2.0, 200.0), (4.0, 200.0)]
    assert [energy.add(at, None, power) for at, power in readings] == [None, 0, 150, 550]
    assert energy.source == "power"
