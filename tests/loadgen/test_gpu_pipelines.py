"""Pipelines on GPUs, on a machine whose driver's library is a stand-in (tests/support/nvml_library.c)."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nvml_library
import pytest

from assay.analysis.colocation.read_colocation import read_colocation
from assay.errors import ConfigError
from assay.loadgen import Graph, LoadGen, SingleStreamLoadScheduler, Stop
from assay.loadgen.colocation.devices import GpuUsage, PipelineDevice, gpu_watch, read_gpu_usage
from assay.loadgen.colocation.overlap import UsageWindow
from assay.loadgen.colocation.read_config import read_config
from assay.stages.synthetic import NoOp

STAGES = str(Path(__file__).parent)
PIPELINE = """\
  - name: {name}
    loadgen: {{component: single_stream, duration: {seconds}}}
    {more}
    stages: [{{id: 0, component: gpu_stages.OnGpu, config: {{megabytes: {megabytes}, percent: {percent}}}}}]
"""
SECRET = "open-sesame-1234"


def pipeline(name: str, more: str, megabytes: int = 0, percent: int = 0, seconds: float = 1.0) -> str:
    return PIPELINE.format(name=name, more=more, megabytes=megabytes, percent=percent, seconds=seconds)


def assay(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**environment, "PYTHONPATH": f"{environment.get('PYTHONPATH', '')}:{STAGES}"}
    command = [sys.executable, "-m", "assay.cli.main", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return nvml_library.built(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def run(driver: dict[str, str], tmp_path: Path) -> Any:
    def colocate(pipelines: str, head: str = "", **more: str) -> tuple[dict[str, Any], str, Path]:
        (tmp_path / "c.yml").write_text(f"{head}pipelines:\n{pipelines}")
        processes = tmp_path / "processes"
        processes.write_text("")
        environment = {**driver, "NVML_PROCESSES": str(processes), **more}
        out = tmp_path / "out"
        done = assay(environment, "colocate", str(tmp_path / "c.yml"), "--results", str(out), "--quiet")
        assert done.returncode == 0, done.stderr
        found = {p["pipeline"]: p for p in json.loads((out / "colocation.json").read_text())["runs"][0]["pipelines"]}
        return found, done.stdout, out

    return colocate


def test_two_pipelines_on_one_gpu_have_their_own_share_and_know_whose_the_energy_is(run: Any) -> None:
    both = pipeline("a", "device: cuda:0", 300, 30) + pipeline("b", "device: cuda:0", 500, 20, 1.5)
    found, shown, out = run(both)
    a, b = found["a"]["gpu"], found["b"]["gpu"]
    assert (a["mean_pct"], a["peak_memory_mb"], b["mean_pct"], b["peak_memory_mb"]) == (30, 300, 20, 500)
    assert (a["names"], a["uuids"], a["energy_source"]) == (["NVIDIA Stand-in"], [nvml_library.FIRST], "counter")
    # The counter of the stand-in grows by 100 J a second, and only the measured time counts, not the set-up. On a busy
    # machine a sample comes a little later than the time that stands beside it.
    for one in (found["a"], found["b"]):
        gpu = one["gpu"]
        assert gpu["energy_j"] == pytest.approx(100 * one["duration_s"], rel=0.25)
        assert gpu["joules_per_query"] == pytest.approx(gpu["energy_j"] / one["completed"])
        assert gpu["joules_per_token"] == pytest.approx(gpu["energy_j"] / 400)
        assert gpu["joules_per_sample"] == pytest.approx(gpu["energy_j"] / 20)
    shared = "its GPU was shared with {}: power and energy are the whole GPU's, of all of them"
    assert shared.format("b") in a["notes"]
    assert f"a: note: {shared.format('b')}" in shown
    assert "a: GPU: of a GPU's time 30%, most memory 300 MB, power 100 W, energy" in shown
    rows = list(csv.DictReader((out / "together/a/usage.csv").open()))
    assert {"gpu_pct", "gpu_device_pct", "gpu_memory_mb", "gpu_power_w", "gpu_energy_j"} <= rows[0].keys()
    assert float(rows[-1]["gpu_memory_mb"]) == 300
    assert float(rows[-1]["gpu_energy_j"]) > a["energy_j"]
    compared = read_colocation(out)[0].script_metrics["gpu_joules_per_query"]
    assert compared == a["joules_per_query"]


def test_a_policy_is_told_of_the_gpu(run: Any) -> None:
    both = pipeline("a", "device: cuda:0", 300, 30, 2.0) + pipeline("b", "device: cpu\n    until: others_end")
    _, _, out = run(both, head="policy: {component: load_policies.PauseBesideGpu}\n")
    decided = json.loads((out / "colocation.json").read_text())["runs"][0]["decisions"]
    assert [(d["pipeline"], d["action"], d["reason"]) for d in decided if d["action"] == "pause"] == [
        ("b", "pause", "a takes 30% and 300 MB of a GPU")
    ]


def test_one_counter_that_fails_costs_that_counter(run: Any) -> None:
    found, shown, _ = run(
        pipeline("a", f"device: {nvml_library.FIRST}", 300, 30),
        NVML_FAILS="nvmlDeviceGetTotalEnergyConsumption nvmlDeviceGetUtilizationRates",
    )
    gpu = found["a"]["gpu"]
    assert gpu["mean_device_pct"] is None
    assert (gpu["mean_pct"], gpu["peak_memory_mb"], gpu["mean_power_w"], gpu["energy_source"]) == (
        30,
        300,
        100,
        "power",
    )
    assert gpu["energy_j"] == pytest.approx(100 * found["a"]["duration_s"], rel=0.25)
    assert "a: note: NVIDIA Stand-in does not tell its utilisation" in shown
    assert "a: note: NVIDIA Stand-in has no energy counter: its energy is its power over time" in shown


def test_a_part_and_a_share_reach_the_process_and_a_value_of_env_reaches_no_file(run: Any, tmp_path: Path) -> None:
    (tmp_path / "mps").mkdir()
    (tmp_path / "mps/control").touch()
    more = f"device: cuda:1/2/0\n    mps_share: 30\n    env: {{GREETING: {SECRET}}}"
    found, shown, out = run(pipeline("a", more, seconds=0.2), CUDA_MPS_PIPE_DIRECTORY=str(tmp_path / "mps"))
    said = found["a"].pop("warnings")
    assert [line.partition("): ")[2] for line in said] == [
        "device cuda:0",
        f"CUDA_VISIBLE_DEVICES={nvml_library.PARTS[1]}",
        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=30",
        f"GREETING={SECRET}",
    ]
    assert "power and energy are those of the whole NVIDIA Stand-in, not of the part that was used" in shown
    assert found["a"]["gpu"]["uuids"] == [nvml_library.SECOND]
    # The stage itself tells of it, twice: in its report and so in the warnings. Assay writes it nowhere.
    written = {path.name: path.read_bytes().count(SECRET.encode()) for path in out.rglob("*") if path.is_file()}
    assert {name for name, times in written.items() if times} == {"result.json", "colocation.json"}
    assert set(written.values()) == {0, 2}


def test_a_pipeline_without_device_sees_the_gpus_that_assay_sees_and_counts_where_it_is_seen(run: Any) -> None:
    found, _, _ = run(pipeline("a", "nice: 0", 300, 30, 0.5), CUDA_VISIBLE_DEVICES="1,0")
    assert found["a"]["gpu"]["uuids"] == [nvml_library.FIRST]
    assert "CUDA_VISIBLE_DEVICES=1,0" in found["a"]["warnings"][1]


ASKED = """
import json, sys
from assay.loadgen.colocation.devices import NoSuchDevice, find_device
def found(asked):
    try:
        device = find_device(asked)
        return [device.environment.get("CUDA_VISIBLE_DEVICES"), device.for_stages, device.gpus, device.certain]
    except NoSuchDevice as error:
        return str(error)
print(json.dumps([found(asked) for asked in json.loads(sys.argv[1])]))
"""
FIRST, SECOND, PARTS = nvml_library.FIRST, nvml_library.SECOND, nvml_library.PARTS
DEVICES: list[tuple[dict[str, str], dict[str | None, Any]]] = [
    (
        {},
        {
            "cpu": ["", "cpu", [], False],
            None: [None, "cpu", ["0", "1"], False],
            "cuda": [None, "cuda", ["0", "1"], False],
            "cuda:1": ["1", "cuda:0", ["1"], True],
            "cuda:2": "there is no cuda:2; they are cuda:0 to cuda:1",
            SECOND: [SECOND, "cuda:0", [SECOND], True],
            "GPU-111": ["GPU-111", "cuda:0", ["GPU-111"], True],
            PARTS[0]: [PARTS[0], "cuda:0", [PARTS[0]], True],
            "MIG-ffff": "there is no MIG-ffff; `nvidia-smi -L` lists what there is",
            "cuda:1/1/0": [PARTS[0], "cuda:0", [PARTS[0]], True],
            "cuda:1/3/0": "there is no cuda:1/3/0: its parts are 1/0, 2/0",
            "cuda:0/1/0": "there is no cuda:0/1/0: that GPU is not cut into parts",
            "gpu0": "'gpu0' is not a device: use cpu, cuda, cuda:N, cuda:N/G/C, GPU-… or MIG-…",
        },
    ),
    (
        {"CUDA_VISIBLE_DEVICES": "1"},
        {
            "cuda:0": ["1", "cuda:0", ["1"], True],
            "cuda:1": "there is no cuda:1; the only one is cuda:0",
            "cuda": [None, "cuda", ["1"], True],
        },
    ),
    ({"CUDA_VISIBLE_DEVICES": ""}, {"cuda": "cuda was asked for but CUDA_VISIBLE_DEVICES hides every GPU from Assay"}),
    ({"NVML_FAILS": "nvmlInit"}, {"cuda:0": "cuda:0 was asked for but this machine has no GPU; use `device: cpu`"}),
]


@pytest.mark.parametrize(("more", "asked"), DEVICES, ids=["all", "one", "hidden", "no driver"])
def test_a_device_by_each_of_its_names(driver: dict[str, str], more: dict[str, str], asked: dict[str, Any]) -> None:
    command = [sys.executable, "-c", ASKED, json.dumps(list(asked))]
    done = subprocess.run(command, env={**driver, **more}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert dict(zip(asked, json.loads(done.stdout), strict=True)) == asked


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("mps_share: 30", "mps_share: a share is one of a GPU: say which by `device: cuda:N`"),
        (
            "device: cuda:0\n    mps_share: 30",
            "mps_share: no MPS daemon is running (there is no /no/such/place/control): start it with `nvidia-cuda-mps",
        ),
        (
            "device: cuda:0\n    env: {CUDA_VISIBLE_DEVICES: '1'}",
            "env.CUDA_VISIBLE_DEVICES: `device` decides CUDA_VISIBLE_DEVICES: give one of the two",
        ),
        ("mps_share: 0", "mps_share: "),
        ("env: [A]", "env: "),
    ],
)
def test_what_cannot_be_given_is_refused_before_anything_runs(
    driver: dict[str, str], tmp_path: Path, more: str, message: str
) -> None:
    (tmp_path / "c.yml").write_text("pipelines:\n" + pipeline("a", more))
    environment = {**driver, "CUDA_MPS_PIPE_DIRECTORY": "/no/such/place"}
    done = assay(environment, "colocate", str(tmp_path / "c.yml"), "--check")
    assert done.returncode == 2
    assert f"pipelines[0].{message}" in done.stderr


def test_a_share_of_a_machine_without_a_gpu_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STAGES)
    path = tmp_path / "c.yml"
    path.write_text("pipelines:\n" + pipeline("a", "device: cuda:0\n    mps_share: 30"))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert "device: cuda:0 was asked for but this machine has no GPU; use `device: cpu`" in str(caught.value)


def test_without_the_extra_a_gpu_is_used_and_it_is_said_why_nothing_is_known_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(device: PipelineDevice) -> GpuUsage | None:
        result = LoadGen(Graph.chain([NoOp()]), SingleStreamLoadScheduler(), Stop(max_queries=1)).run()
        return read_gpu_usage(device, {}, tmp_path / "usage.csv", result)

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    given = PipelineDevice({}, "cuda:0", ("0",), certain=True)
    assert gpu_watch(given) is None
    why = "nothing is known of the GPU: pynvml is not installed. Install it with: pip install 'assay-bench[gpu]'"
    assert run(given) == GpuUsage(notes=(why,))
    assert run(PipelineDevice({}, "cpu", ("0",))) is None


@pytest.mark.parametrize("written", [None, "", "t_s,gpu_energy_j\n0.5,1.0\n1.0,"])
def test_samples_that_a_full_disk_has_cut_cost_the_energy_and_nothing_else(tmp_path: Path, written: str | None) -> None:
    path = tmp_path / "usage.csv"
    if written is not None:
        path.write_text(written)
    window = UsageWindow.read(path, 0.0, 2.0)
    assert window.growth("gpu_energy_j") is None
    assert window.mean("gpu_power_w") is None


def test_numbers_in_env_are_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STAGES)
    path = tmp_path / "c.yml"
    path.write_text("pipelines:\n" + pipeline("a", "env: {OMP_NUM_THREADS: 1, FAST: true, NAME: x}"))
    assert read_config(path).pipelines[0].env == {"OMP_NUM_THREADS": "1", "FAST": "true", "NAME": "x"}
