from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vision_stages import classification, loader

from assay.errors import AssayError
from assay.stages.pytorch.device import library
from assay.stages.torchvision_classification import TorchVisionClassification
from assay.stages.torchvision_classification.classifier import read_classifier_options
from assay.stages.torchvision_classification.model_source import build_model, class_count

torch = library("torch", "vision")
library("torchvision", "vision")

OWN = """
import torch
class Small(torch.nn.Module):
    def __init__(self, num_classes=3):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=4), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
        self.out = torch.nn.Linear(8, num_classes)
    def forward(self, images):
        return self.out(self.body(images).mean((2, 3)))
class Helped(Small):
    # With a second output while it trains, as GoogLeNet and Inception have.
    def forward(self, images):
        told = super().forward(images)
        return (told, told.new_zeros(1)) if self.training else told
def no_model(): return 7
def no_layers(): return torch.nn.Sequential(torch.nn.ReLU())
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_model.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_model"


@pytest.mark.parametrize(
    "source",
    [
        {"name": "resnet18"},
        {"name": "squeezenet1_1"},
        {"component": "torchvision.models.mobilenet_v3_small"},
        {"name": "timm/test_resnet"},
        {"name": "timm/test_vit.r160_in1k"},
        {"component": "own_model.Small"},
    ],
    ids=lambda source: next(iter(source.values())),
)
@pytest.mark.parametrize("replace", [False, True])
def test_every_source_of_a_model_gives_as_many_classes_as_asked_for(
    source: dict[str, Any], replace: bool, own: str
) -> None:
    model = build_model(read_classifier_options({**source, "num_classes": 4, "replace_classifier": replace}))
    assert class_count(model) == 4
    size = 160 if "vit" in str(source) else 64
    assert model.eval()(torch.zeros(2, 3, size, size)).shape == (2, 4)


def test_a_model_without_a_number_of_classes_keeps_its_own(own: str) -> None:
    assert class_count(build_model(read_classifier_options({"name": "timm/test_resnet"}))) == 1000
    assert class_count(build_model(read_classifier_options({"component": "own_model.Small"}))) == 3
    assert class_count(build_model(read_classifier_options(None))) == 10
    assert class_count(build_model(read_classifier_options({"num_classes": 6}))) == 6


def test_a_replaced_classifier_is_all_that_is_new(own: str) -> None:
    for source in ({"component": "own_model.Small"}, {"name": "timm/test_resnet"}):
        torch.manual_seed(0)
        before = build_model(read_classifier_options(source)).state_dict()
        torch.manual_seed(0)
        after = build_model(
            read_classifier_options({**source, "num_classes": 4, "replace_classifier": True})
        ).state_dict()
        changed = {name for name in before if before[name].shape != after[name].shape}
        assert changed in ({"out.weight", "out.bias"}, {"fc.weight", "fc.bias"})
        assert all(torch.equal(before[name], after[name]) for name in before.keys() - changed)


def test_helper_outputs_of_a_model_in_training_are_left_aside(own: str) -> None:
    stage = classification(model={"component": "own_model.Helped", "num_classes": 4})
    data = loader()
    assert stage.process(data.process(0)).loss is not None
    assert len(stage.process(data.process(9)).predictions) == 16


@pytest.mark.parametrize("kind", ["pth", "nested.pth", "safetensors"])
def test_a_checkpoint_is_loaded_after_the_classifier_was_replaced(kind: str, own: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"component": "own_model.Small", "num_classes": 4, "replace_classifier": True}
    state = build_model(read_classifier_options(options)).state_dict()
    path = tmp_path / f"weights.{kind}"
    if kind == "safetensors":
        library("safetensors.torch", "vision").save_file(state, path)
    else:
        torch.save({"state_dict": state, "epoch": 3} if kind == "nested.pth" else state, path)
    loaded = build_model(read_classifier_options({**options, "model_checkpoint_path": str(path)})).state_dict()
    assert all(torch.equal(loaded[name], state[name]) for name in state)


def test_published_weights_are_taken_from_where_torch_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.models import SqueezeNet1_1_Weights, squeezenet1_1

    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    torch.manual_seed(5)
    state = squeezenet1_1().state_dict()
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save(state, folder / SqueezeNet1_1_Weights.DEFAULT.url.rpartition("/")[2])
    for written in ("DEFAULT", "IMAGENET1K_V1", "SqueezeNet1_1_Weights.IMAGENET1K_V1", True):
        model = build_model(read_classifier_options({"name": "squeezenet1_1", "weights": written}))
        assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    narrowed = {"name": "squeezenet1_1", "weights": True, "num_classes": 4, "replace_classifier": True}
    body = build_model(read_classifier_options(narrowed)).state_dict()
    assert torch.equal(body["features.0.weight"], state["features.0.weight"])
    assert body["classifier.1.weight"].shape[0] == 4


def test_published_weights_of_timm_are_taken_from_the_cache_of_its_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timm = library("timm", "vision")
    monkeypatch.setattr(library("huggingface_hub.constants", "vision"), "HF_HUB_CACHE", str(tmp_path))
    torch.manual_seed(5)
    state = timm.create_model("test_convnext").state_dict()
    repository = tmp_path / "models--timm--test_convnext.r160_in1k"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc")
    (repository / "snapshots" / "abc").mkdir(parents=True)
    library("safetensors.torch", "vision").save_file(state, repository / "snapshots" / "abc" / "model.safetensors")
    for name, weights in (("timm/test_convnext", "DEFAULT"), ("timm/test_convnext.r160_in1k", "r160_in1k")):
        model = build_model(read_classifier_options({"name": name, "weights": weights}))
        assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": {"component": "a.b", "name": "c"}}, "model: give component or name, and not both"),
        ({"model": {"name": "resnet18", "weigts": 1}}, "model: unknown key 'weigts'; did you mean 'weights'?"),
        ({"model": {"replace_classifier": True, "num_classes": None}}, "model: replace_classifier needs num_classes"),
        (
            {"model": {"name": "resnet18", "num_classes": 1}},
            "model.num_classes: Input should be greater than or equal to 2",
        ),
        (
            {"model": {"name": "resnet18", "weights": "DEFAULT", "model_checkpoint_path": "x.pth"}},
            "model: weights and model_checkpoint_path both say where the model's weights are: keep one",
        ),
        ({"optimizer": {"name": "Adam", "component": "a.b"}}, "optimizer: give component or name, not both"),
        ({"criterion": {"label_smoothing": 0.1}}, "criterion.component is missing"),
        ({"train": "some"}, "train must be all or classifier, not 'some'"),
    ],
)
def test_what_is_wrong_with_the_keys_is_said_when_the_file_is_read(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        TorchVisionClassification(**keys)
    assert str(caught.value).startswith(message)


SMALL = {"component": "own_model.Small"}
NO_CACHE = "are not on this machine. Where there is a network: "


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": {"name": "resnet1"}}, "model.name: unknown model 'resnet1'; did you mean 'resnet18'?"),
        ({"model": {"name": "timm/resnet1"}}, "model.name: unknown model 'timm/resnet1'; did you mean 'timm/resnet"),
        (
            {"model": {"component": "torchvision.models.resnet"}},
            "model.component: torchvision.models.resnet is neither",
        ),
        ({"model": {"component": "own_model.Smal"}}, "model.component: nothing is at 'own_model.Smal'"),
        ({"model": {"component": "own_model.no_model"}}, "model.component: own_model.no_model makes int, which is no"),
        ({"model": {"component": "own_model.no_layers"}}, "model: Sequential has no linear layer or convolution that"),
        ({"model": {**SMALL, "weights": "DEFAULT"}}, "model.weights: Small has none; give model_checkpoint_path"),
        (
            {"model": {"name": "resnet18", "weights": "IMAGENET1K_V3"}},
            "model.weights: unknown weights 'IMAGENET1K_V3'; did you mean 'IMAGENET1K_V1'?",
        ),
        (
            {"model": {"component": "torchvision.models.efficientnet_v2_s", "weights": "DEFAULT"}},
            f"model.weights: EfficientNet_V2_S_Weights.IMAGENET1K_V1 {NO_CACHE}download https://download.pytorch.org/",
        ),
        (
            {"model": {"name": "timm/test_resnet", "weights": "DEFAULT"}},
            f"model.weights: timm/test_resnet.r160_in1k {NO_CACHE}hf download timm/test_resnet.r160_in1k. Or leave ",
        ),
        (
            {"model": {"name": "timm/test_resnet", "weights": "a1_in1k"}},
            "model.weights: unknown weights 'a1_in1k' (known: DEFAULT, test_resnet.r160_in1k); the model's name says",
        ),
        ({"model": {"name": "timm/vit_small_patch8_224"}}, "model: it has no classifier; give it one with"),
        ({"model": {**SMALL, "model_checkpoint_path": "no.pth"}}, "model_checkpoint_path: there is no file no.pth"),
        (
            {"model": {**SMALL, "model_checkpoint_path": "text.pth"}},
            "model_checkpoint_path: text.pth is not a file of weights that can be read: ",
        ),
        (
            {"model": {**SMALL, "model_checkpoint_path": "code.pth"}},
            "model_checkpoint_path: code.pth is not a file of weights that can be read: ",
        ),
        (
            {"model": {**SMALL, "num_classes": 5, "model_checkpoint_path": "three.pth"}},
            "model_checkpoint_path: three.pth does not fit the model: out.weight is [3, 8] there and [5, 8] in the",
        ),
        (
            {"model": {"name": "timm/test_resnet", "model_checkpoint_path": "three.pth"}},
            "model_checkpoint_path: three.pth does not fit the model: ",
        ),
        (
            {"model": SMALL, "optimizer": {"component": "torch.optim.Adm"}},
            "optimizer: nothing is at 'torch.optim.Adm'",
        ),
        (
            {"model": SMALL, "optimizer": {"component": "torch.optim.Adam", "lrr": 1}},
            "optimizer: Adam.__init__() got an unexpected keyword argument 'lrr'",
        ),
        (
            {"model": SMALL, "optimizer": {"component": "torch.optim.Adam", "lr": -1}},
            "optimizer: Invalid learning rate: -1",
        ),
        ({"model": SMALL, "optimizer": {"name": "Adan"}}, "optimizer: unknown optimizer 'Adan'; did you mean 'Adam'?"),
        (
            {"model": SMALL, "criterion": {"component": "torch.nn.functional.cross_entropy"}},
            "criterion.component: torch.nn.functional.cross_entropy is no class of a loss",
        ),
        (
            {"model": SMALL, "criterion": {"component": "torch.nn.CrossEntropyLoss", "smoothing": 0.1}},
            "criterion: unknown key 'smoothing' of torch.nn.CrossEntropyLoss; did you mean 'label_smoothing'?",
        ),
        ({"model": SMALL, "device": "tpu"}, "device 'tpu' is not known; use cpu, cuda, cuda:N or mps"),
    ],
)
def test_what_is_not_there_is_said_at_set_up(
    keys: dict[str, Any], message: str, own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr(library("huggingface_hub.constants", "vision"), "HF_HUB_CACHE", str(tmp_path / "hub"))
    Path("text.pth").write_text("no weights")
    torch.save(build_model(read_classifier_options(SMALL)).state_dict(), "three.pth")
    torch.save({"state_dict": Runs()}, "code.pth")
    with pytest.raises(AssayError) as caught:
        classification(**keys)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert not Path("ran").exists(), "nothing in a checkpoint is run"


class Runs:
    """Pickled, it would leave a file behind when it is read."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("ran"),))
