from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vision_stages import SMALL, classification, figures, loader, run

from assay.errors import AssayError
from assay.loadgen import Warmup
from assay.stages.pytorch.device import library
from assay.stages.torchvision_classification import (
    TorchVisionClassification,
    TorchVisionDataLoader,
    TorchVisionPreprocessFromWeights,
)

torch = library("torch", "vision")

CONVNEXT = {"name": "timm/test_convnext", "num_classes": 4}
RESNET = {"name": "timm/test_resnet", "num_classes": 4}
"""It has batch normalisation."""


def weights(stage: TorchVisionClassification) -> dict[str, Any]:
    assert stage._classifier is not None
    return {name: value.clone() for name, value in stage._classifier.model.state_dict().items()}


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {name for name in before if not torch.equal(before[name], after[name])}


def test_accuracy_on_images_that_were_not_trained_on_rises_from_chance() -> None:
    result = run([TorchVisionDataLoader(dataset=SMALL), TorchVisionClassification(CONVNEXT)], 30)
    told = figures(result, 1)
    judged = figures(
        run([TorchVisionDataLoader(dataset=SMALL), TorchVisionClassification(CONVNEXT)], 10, training=False), 1
    )
    assert result.completed == 30
    assert judged["val_accuracy"].value < 0.6, "before it has learnt anything it guesses"
    assert told["val_accuracy"].value > 0.9
    assert told["loss"].value < 0.7 * told["loss_first"].value
    assert told["optimizer_steps"].value == len(told["loss"].samples) == 24
    assert len(told["val_accuracy"].samples) == len(told["train_accuracy"].samples) == 3


def test_difficult_images_are_told_apart_less_often() -> None:
    shares = []
    for difficulty in (0.2, 0.97):
        stages = [
            TorchVisionDataLoader(dataset={**SMALL, "difficulty": difficulty}),
            TorchVisionClassification(CONVNEXT),
        ]
        shares.append(figures(run(stages, 20), 1)["val_accuracy"].value)
    assert shares[0] > shares[1] + 0.2


def test_labels_that_say_nothing_are_not_learnt() -> None:
    """FakeData draws labels without looking at the image: what is right by more than chance was not held out."""
    data = {"component": "torchvision.datasets.FakeData", "size": 160, "image_size": [3, 32, 32], "num_classes": 4}
    told = figures(run([TorchVisionDataLoader(dataset=data), TorchVisionClassification(CONVNEXT)], 30), 1)
    assert told["val_accuracy"].value < 0.6


def test_the_same_seed_trains_to_the_same_weights_and_inference_repeats() -> None:
    answers = []
    for _ in range(2):
        stage, data = classification(), loader()
        losses = [stage.process(data.process(n)).loss for n in range(4)]
        said = [stage.process(data.process(n)).predictions for n in (8, 9)]
        assert said == [stage.process(data.process(n)).predictions for n in (8, 9)]
        answers.append((losses, said))
    assert answers[0] == answers[1]
    assert classification(seed=1).process(loader().process(0)).loss != answers[0][0][0]


def test_a_batch_that_infers_changes_nothing_not_even_the_statistics_of_batch_normalisation() -> None:
    stage, data = classification(model=RESNET), loader()
    before = weights(stage)
    stage.process(data.process(8))
    assert changed(before, weights(stage)) == set()
    stage.process(data.process(9))
    stage.process(data.process(0))
    moved = changed(before, weights(stage))
    assert any("running_mean" in name for name in moved)
    assert any(name == "fc.weight" for name in moved)
    after = weights(stage)
    stage.process(data.process(8))
    assert changed(after, weights(stage)) == set()


def test_where_the_classifier_alone_is_trained_nothing_else_moves() -> None:
    stage, data = classification(model=RESNET, train="classifier"), loader()
    before = weights(stage)
    for n in (0, 8, 1):
        stage.process(data.process(n))
    assert changed(before, weights(stage)) == {"fc.weight", "fc.bias"}


@pytest.mark.parametrize(
    ("model", "train", "whole"),
    [
        (RESNET, None, True),
        ({**RESNET, "replace_classifier": True}, None, False),
        ({**RESNET, "replace_classifier": True}, "all", True),
    ],
)
def test_a_replaced_classifier_is_trained_alone_unless_told_otherwise(model: Any, train: Any, whole: bool) -> None:
    stage = classification(model=model, train=train)
    before = weights(stage)
    stage.process(loader().process(0))
    assert ("conv1.0.weight" in changed(before, weights(stage))) is whole


def test_a_load_that_is_no_training_trains_on_nothing() -> None:
    told = figures(
        run([TorchVisionDataLoader(dataset=SMALL), TorchVisionClassification(CONVNEXT)], 10, training=False), 1
    )
    assert told.keys() == {"inference_s", "inferred_images_per_s", "train_accuracy", "val_accuracy"}
    assert len(told["inference_s"].samples) == 10


def test_a_load_that_is_training_still_only_judges_the_val_split() -> None:
    told = figures(
        run([TorchVisionDataLoader(dataset=SMALL), TorchVisionClassification(CONVNEXT)], 10, training=True), 1
    )
    assert told["optimizer_steps"].value == 8
    assert len(told["inference_s"].samples) == 2


def test_warm_up_is_not_among_the_figures_and_loading_and_preprocessing_are_not_among_the_models_times() -> None:
    stages = [
        TorchVisionDataLoader(dataset={**SMALL, "image_size": 64}, preprocess=False),
        TorchVisionPreprocessFromWeights("ShuffleNet_V2_X0_5_Weights.DEFAULT", resize=32),
        TorchVisionClassification(CONVNEXT),
    ]
    result = run(stages, 9, warmup=Warmup(queries=2))
    told = figures(result, 2)
    assert told["optimizer_steps"].value == len(told["step_s"].samples) == 8
    assert {stage.latency.count for stage in result.stages.values()} == {9}
    model = result.stages[2].latency
    inside = sum(told["step_s"].samples) + sum(told["inference_s"].samples)
    whole = sum(stage.latency.mean * stage.latency.count for stage in result.stages.values())
    assert inside <= model.mean * model.count * 1.01
    assert inside < whole
    assert told["trained_images_per_s"].value == pytest.approx(8 * 16 / sum(told["step_s"].samples))


def test_workers_change_no_figure_that_is_not_a_time() -> None:
    told = [
        figures(run([TorchVisionDataLoader(dataset=SMALL, num_workers=n), TorchVisionClassification(CONVNEXT)], 12), 1)
        for n in (0, 2)
    ]
    for name in ("loss", "train_accuracy", "val_accuracy"):
        assert told[0][name] == told[1][name]


def test_notes_say_what_a_reader_of_the_numbers_must_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def notes(training: bool | None = None, **keys: Any) -> list[str]:
        result = run([TorchVisionDataLoader(dataset=SMALL), TorchVisionClassification(**keys)], 1, training)
        return [warning.removeprefix("stage 1 (classification): ") for warning in result.warnings]

    assert notes(model=CONVNEXT) == []
    for model in (CONVNEXT, {**CONVNEXT, "replace_classifier": True}):
        assert notes(training=False, model=model) == [
            "the model has random weights and was not trained: its times are real, its accuracy is chance"
        ]
    own = "import timm\ndef net(): return timm.create_model('test_resnet', num_classes=4)\n"
    (tmp_path / "own_trained.py").write_text(own)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert notes(training=False, model={"component": "own_trained.net"}) == [], "it may have loaded weights by itself"
    for device in ("cuda", "cuda:1", "mps"):
        said = f"asked for {device}, which torch cannot use here: it ran on the CPU"
        assert notes(model=CONVNEXT, device=device) == [said]
    assert notes(model={**CONVNEXT, "replace_classifier": True}) == [
        (
            "only the classifier is trained, and the layers below it have random weights: give weights or "
            "model_checkpoint_path, or `train: all`, if accuracy matters"
        )
    ]
    assert notes(model={"name": "timm/test_convnext.r160_in1k", "num_classes": 5}) == [
        "timm/test_convnext.r160_in1k is the name of weights, which were not loaded: `weights: DEFAULT` loads them",
        (
            "the model tells 5 classes apart and the data has 4: accuracy is right only if the first of the model's "
            "are the data's, in its order"
        ),
    ]


def test_a_model_with_fewer_classes_than_the_data_is_refused() -> None:
    stage = classification(model={**CONVNEXT, "num_classes": 3})
    with pytest.raises(AssayError, match="the data has 4 classes and the model tells 3 apart: set "):
        stage.process(loader().process(0))


def test_images_that_are_not_preprocessed_are_refused() -> None:
    with pytest.raises(AssayError, match="the images are not preprocessed: give the loader `preprocess: true`, or "):
        classification().process(loader(preprocess=False).process(0))
