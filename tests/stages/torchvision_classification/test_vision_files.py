"""Files as users have them, and the examples from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from vision_stages import figures
from workplace import Workplace

from assay.loadgen import LoadGen, LoadResult, SingleStreamLoadScheduler, Stop
from assay.loadgen.colocation.build_components import build_graph
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.read_config import read_config

EXAMPLES = Path(__file__).parents[3] / "examples" / "pipeline_configs"

HEAD = """\
name: "Imagenette"
listeners: [smi, dcgmi, top, iostat]
pipelines:
"""
PIPELINE = """\
  - name: {name}
    inputs: [0]
    outputs: [{last}]
    dataset_stage_id: 0
    loadgen:
      component: loadgen.{scheduler}
      queue_depth: 10
      max_queries: 200
      timeout: 300000
      config:
        rate: {rate} # queries a second
    stages:
      - name: Load
        id: 0
        outputs: [1]
        component: stages.torchvision_classification.TorchVisionDataLoader
        polling_policy: utils.queues.polling.SingleQueuePolicy
        disable_logs: false
        config:
{load}
"""
PREPROCESS = """\
      - name: Preprocess
        id: 1
        outputs: [2]
        component: stages.torchvision_classification.TorchVisionPreprocessFromWeights
        polling_policy: utils.queues.polling.SingleQueuePolicy
        disable_logs: false
        config:
          weights: EfficientNet_V2_S_Weights.IMAGENET1K_V1
"""
MODEL = """\
      - name: EfficientNet
        id: {last}
        outputs: []
        component: stages.torchvision_classification.TorchVisionClassification
        polling_policy: utils.queues.polling.SingleQueuePolicy
        disable_logs: false
        config:
          model:
            component: torchvision.models.efficientnet_v2_s
            replace_classifier: True
            num_classes: 10
          optimizer:
            component: torch.optim.Adam
            lr: 0.001
          criterion:
            component: torch.nn.CrossEntropyLoss
          device: {device}
"""
LOADED = """\
          batch_size: {size}
          preprocess: {preprocess}
          preload: {preload}
          num_workers: {workers}
          dataset:
            component: torchvision.datasets.Imagenette
            split: {split}
"""
WEIGHTS = "            weights: EfficientNet_V2_S_Weights.IMAGENET1K_V1\n"


def training(size: int = 8) -> str:
    """Preprocessed in the loader, trained on one split and judged by the other, on an Apple's GPU."""
    load = LOADED.format(size=size, preprocess=True, preload=False, workers=2, split="[train, val]") + WEIGHTS
    return PIPELINE.format(name="training", last=1, scheduler="OfflineLoadScheduler", rate=0, load=load) + MODEL.format(
        last=1, device="mps"
    )


def inference(size: int = 64) -> str:
    load = LOADED.format(size=size, preprocess=False, preload=True, workers=0, split="[val]")
    pipeline = PIPELINE.format(name="inference", last=2, scheduler="PoissonLoadScheduler", rate=10, load=load)
    return pipeline + PREPROCESS + MODEL.format(last=2, device="cuda")


def training_of_raw_images() -> str:
    load = LOADED.format(size=64, preprocess=False, preload=False, workers=4, split="[train]")
    pipeline = PIPELINE.format(name="training", last=2, scheduler="OfflineLoadScheduler", rate=10, load=load)
    return pipeline + PREPROCESS + MODEL.format(last=2, device="cuda")


def config(folder: Path, text: str) -> ColocationConfig:
    path = folder / "imagenette.yml"
    path.write_text(HEAD + text)
    return read_config(path)


def drive(read: ColocationConfig, queries: int) -> LoadResult:
    return LoadGen(build_graph(read.pipelines[0]), SingleStreamLoadScheduler(), Stop(max_queries=queries)).run()


@pytest.mark.parametrize("text", [training(), inference(), inference(1) + training_of_raw_images()])
def test_users_files_are_understood_as_they_are(text: str, tmp_path: Path) -> None:
    assert config(tmp_path, text).pipelines


def imagenette(folder: Path) -> None:
    """The folders of the real one, with a few images of noise in them."""
    import numpy as np
    from PIL import Image
    from torchvision.datasets import Imagenette

    rng = np.random.default_rng(0)
    for split in ("train", "val"):
        for word in Imagenette._WNID_TO_CLASS:
            place = folder / "tmp" / "torchvision_dataset" / "Imagenette" / "imagenette2" / split / word
            place.mkdir(parents=True)
            Image.fromarray(rng.integers(0, 255, (70, 90, 3), np.uint8)).save(place / "one.jpeg")


@pytest.mark.slow
def test_users_files_run_where_the_data_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imagenette(tmp_path)
    monkeypatch.chdir(tmp_path)
    trained = drive(config(tmp_path, training(size=5)), 3)
    told = figures(trained, 1)
    assert (trained.completed, told["optimizer_steps"].value, len(told["inference_s"].samples)) == (3, 2, 1)
    assert "stage 1 (EfficientNet): asked for mps, which torch cannot use here: it ran on the CPU" in trained.warnings
    assert drive(config(tmp_path, inference(size=2)), 2).completed == 2


@pytest.mark.slow
def test_training_from_the_command_line(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    file = EXAMPLES / "torchvision_training.yml"
    answer = place.assay("colocate", str(file), "--results", "out", "--quiet")
    assert answer.code == 0, answer.out + answer.err
    (written,) = (tmp_path / "out").rglob("result.json")
    result = json.loads(written.read_text())
    told = result["stages"][1]["report"]["metrics"]
    assert result["completed"] == 100
    assert told["optimizer_steps"]["value"] == 80
    assert told["val_accuracy"]["value"] > 0.9
    assert told["loss"]["value"] < told["loss_first"]


@pytest.mark.slow
def test_training_beside_inference_from_the_command_line(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    text = (EXAMPLES / "torchvision_mixed.yml").read_text()
    assert "max_queries: 80" in text
    assert "max_queries: 300" in text
    place.write(
        "mixed.yml", text.replace("max_queries: 80", "max_queries: 8").replace("max_queries: 300", "max_queries: 8")
    )
    answer = place.assay("colocate", "mixed.yml", "--results", "out", "--quiet")
    assert answer.code == 0, answer.out + answer.err
    for word in ("0 Load images", "1 Preprocess", "2 Classify", "1 Train"):
        assert word in answer.out


def test_the_example_of_inference_has_nothing_wrong_with_it() -> None:
    (pipeline,) = read_config(EXAMPLES / "torchvision_inference.yml").pipelines
    done = LoadGen(build_graph(pipeline), SingleStreamLoadScheduler(), Stop(max_queries=2), training=False).run()
    assert done.completed == 2
    (warning,) = done.warnings
    assert warning.startswith("stage 2 (Classify): the model has random weights and was not trained: ")
