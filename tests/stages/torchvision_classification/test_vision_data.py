from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from vision_stages import SMALL, loader

from assay.errors import AssayError
from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.pipeline.stage import Worker
from assay.stages.pytorch.device import library
from assay.stages.torchvision_classification import TorchVisionDataLoader, TorchVisionPreprocessFromWeights
from assay.stages.torchvision_classification.data_sets import open_splits, read_data_set_options

torch = library("torch", "vision")
library("torchvision", "vision")


def shown(batch: Any) -> tuple[str, int, list[int], float]:
    pixels = sum(image.float().sum().item() for image in batch.images)
    return batch.split, batch.epoch, batch.labels.tolist(), pixels


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Images of three sizes and two kinds of file, two classes, split by folders."""
    from PIL import Image

    for split, count in (("train", 6), ("val", 3)):
        for label, colour in (("cat", (200, 30, 30)), ("dog", (20, 20, 220))):
            folder = tmp_path / "pets" / split / label
            folder.mkdir(parents=True)
            for n in range(count):
                kind = "L" if n == 2 else "RGB"
                image = Image.new(kind, (40 + 8 * (n % 3), 48), colour if kind == "RGB" else 90)
                image.save(folder / f"{n}.{'png' if n % 2 else 'jpg'}")
    return tmp_path / "pets"


def test_an_epoch_trains_first_then_judges_and_the_next_has_another_order() -> None:
    stage = loader(batch_size=16)
    assert len(stage) == 8 + 2
    first, second = ([stage.process(n) for n in range(10)] for _ in range(2))
    assert [batch.split for batch in first] == ["train"] * 8 + ["val"] * 2
    assert {batch.epoch for batch in first} == {0}
    assert {batch.epoch for batch in second} == {1}

    def pixels(batches: list[Any]) -> list[float]:
        return [shown(batch)[3] for batch in batches]

    assert sorted(image.sum().item() for b in first[:8] for image in b.images) == pytest.approx(
        sorted(image.sum().item() for b in second[:8] for image in b.images)
    )
    assert pixels(first[:8]) != pixels(second[:8])
    assert pixels(first[8:]) == pixels(second[8:])


def test_train_comes_first_however_the_splits_are_listed() -> None:
    stage = loader(dataset={**SMALL, "split": ["val", "train"]})
    assert stage.process(0).split == "train"
    assert loader(dataset={**SMALL, "split": "val"}).process(0).split == "val"


def test_warm_up_begins_where_the_measured_part_does_though_its_queries_are_numbered_from_the_end() -> None:
    stage = TorchVisionDataLoader(dataset=SMALL)
    stage.setup(Worker())
    warm = [stage.process(n) for n in (9, 8, 7)]
    assert [batch.split for batch in warm] == ["train"] * 3
    stage.start_measuring()
    measured = [stage.process(n) for n in range(3)]
    assert [shown(batch) for batch in measured] == [shown(batch) for batch in warm]


def test_generated_images_are_the_same_again_and_no_image_is_in_both_splits() -> None:
    train, val = open_splits(read_data_set_options(SMALL))
    again = open_splits(read_data_set_options({**SMALL, "split": ["val"]}))[0]
    assert not set(train.indices) & set(val.indices)
    assert len(train) + len(val) == 160
    assert again.indices.tolist() == val.indices.tolist()
    assert torch.equal(again.image(3)[0], val.image(3)[0])
    other = open_splits(read_data_set_options({**SMALL, "seed": 1}))[0]
    assert not torch.equal(other.image(3)[0], val.image(3)[0])
    assert val.image(3)[0].dtype == torch.uint8
    assert val.classes == 4


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("preload", [False, True])
def test_workers_and_preloading_change_no_batch(workers: int, preload: bool) -> None:
    before = set(children(os.getpid()))
    plain, ahead = loader(), loader(num_workers=workers, preload=preload)
    try:
        # Two epochs, and a leap, as of a query that was not sent.
        for n in [*range(10), *range(6), 8, 9]:
            assert shown(ahead.process(n)) == shown(plain.process(n))
    finally:
        ahead.teardown()
    assert set(children(os.getpid())) <= before


def children(pid: int) -> list[int]:
    """Processes whose parent it is, those of pytest's own and of the resource tracker left out."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            command = (stat.parent / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z" and "resource_tracker" not in command:
            found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
def test_workers_end_with_a_process_that_is_killed() -> None:
    code = (
        "import time\n"
        "from assay.pipeline.stage import Worker\n"
        "from assay.stages.torchvision_classification import TorchVisionDataLoader\n"
        "stage = TorchVisionDataLoader(num_workers=2)\n"
        "stage.setup(Worker()); stage.start_measuring(); stage.process(0)\n"
        "print('ready', flush=True); time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        workers = children(process.pid)
        assert len(workers) == 2
        process.kill()
        process.wait()
    for _ in range(600):
        if not any(_alive(pid) for pid in workers):
            return
        sleep(0.1)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    pytest.fail("workers are alive a minute after their parent was killed")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_a_loader_in_a_process_of_its_own_gives_the_same_batches() -> None:
    seen: list[Any] = []
    graph = Graph.build([Node(0, TorchVisionDataLoader(dataset=SMALL), place="process")], dataset=0)
    LoadGen(
        graph, SingleStreamLoadScheduler(), Stop(max_queries=3), keep=lambda _, batch: seen.append(shown(batch))
    ).run()
    here = loader()
    assert seen == [shown(here.process(n)) for n in range(3)]


def test_image_folders_by_path(folders: Path) -> None:
    stage = loader(batch_size=3, preprocess=False, dataset={"root": str(folders)})
    train = stage.process(0)
    assert len(stage) == 4 + 2
    assert (train.split, train.classes, train.preprocessed) == ("train", 2, False)
    assert len({image.shape for image in train.images}) > 1
    assert {image.shape[0] for image in train.images} == {3}
    assert stage.process(4).split == "val"
    sized = loader(
        batch_size=3, dataset={"component": "torchvision.datasets.ImageFolder", "root": folders, "resize": 24}
    )
    assert sized.process(0).images.shape == (3, 3, 24, 24)
    whole = loader(batch_size=1, dataset={"root": str(folders / "train"), "resize": 24})
    assert len(whole) == 12
    assert [whole.process(n).split for n in range(12)] == ["train"] * 10 + ["val"] * 2


@pytest.mark.parametrize("workers", [0, 1])
def test_an_image_that_cannot_be_read_is_named(folders: Path, workers: int) -> None:
    for file in (folders / "train" / "cat").iterdir():
        file.write_bytes(b"no image")
    stage = loader(batch_size=3, num_workers=workers, dataset={"root": str(folders), "resize": 24})
    with pytest.raises(AssayError) as caught:
        for n in range(4):
            stage.process(n)
    stage.teardown()
    assert re.match(r"image \d of the split 'train' cannot be read: UnidentifiedImageError: ", str(caught.value))
    assert "\n" not in str(caught.value)


def test_data_sets_by_component(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = {"component": "torchvision.datasets.FakeData", "size": 50, "image_size": [3, 20, 20], "num_classes": 3}
    stage = loader(batch_size=10, dataset=fake)
    assert len(stage) == 4 + 1
    assert stage.process(0).images.shape == (10, 3, 20, 20)
    assert stage.process(0).classes == 3
    monkeypatch.syspath_prepend(str(tmp_path))
    train, test = open_splits(read_data_set_options(own_data_set(tmp_path)))
    assert (train.name, len(train), test.name, len(test), train.classes) == ("train", 100, "test", 20, 10)
    assert train.image(1)[0].shape == (3, 32, 32)


def own_data_set(folder: Path) -> dict[str, Any]:
    """A user's class that takes `train`, as CIFAR10 does, and holds grey arrays."""
    module = folder / "own_images.py"
    module.write_text(
        "import numpy as np\n"
        "class Small:\n"
        "    classes = list('abcdefghij')\n"
        "    def __init__(self, root, train=True, download=False):\n"
        "        assert not download\n"
        "        self.count = 100 if train else 20\n"
        "    def __len__(self): return self.count\n"
        "    def __getitem__(self, n): return np.full((32, 32), n, np.uint8), n % 10\n"
    )
    return {"component": "own_images.Small", "split": ["test", "train"]}


@pytest.mark.parametrize(
    ("weights", "resize", "shape"),
    [
        ("EfficientNet_V2_S_Weights.IMAGENET1K_V1", None, (3, 384, 384)),
        ("ShuffleNet_V2_X0_5_Weights.DEFAULT", 56, (3, 56, 56)),
        ("timm/test_convnext.r160_in1k", None, (3, 160, 160)),
        ("timm/test_convnext", 64, (3, 64, 64)),
    ],
)
def test_preprocessing_from_weights_is_the_same_in_the_loader_and_behind_it(
    weights: str, resize: int | None, shape: tuple[int, ...]
) -> None:
    inside = loader(batch_size=2, dataset={**SMALL, "weights": weights, "resize": resize}).process(1)
    stage = TorchVisionPreprocessFromWeights(weights, resize)
    stage.setup(Worker())
    behind = stage.process(loader(batch_size=2, preprocess=False).process(1))
    assert inside.images.shape == (2, *shape)
    assert torch.equal(inside.images, behind.images)
    assert abs(inside.images.mean().item()) < 1
    assert torch.equal(inside.labels, behind.labels)


def test_preprocessing_is_torchvisions_own() -> None:
    from torchvision.models import ResNet18_Weights

    images = loader(batch_size=2, preprocess=False).process(0).images
    made = loader(batch_size=2, dataset={**SMALL, "weights": "ResNet18_Weights.IMAGENET1K_V1"}).process(0).images
    assert torch.allclose(made[1], ResNet18_Weights.IMAGENET1K_V1.transforms()(images[1]), atol=1e-6)


def test_without_weights_pixels_are_from_minus_one_to_one() -> None:
    images = loader().process(0).images
    assert images.dtype == torch.float32
    assert -1 <= images.min() < -0.5
    assert 0.5 < images.max() <= 1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, not 0"),
        ({"num_workers": -1}, "num_workers must be a whole number of at least 0, not -1"),
        ({"dataset": {"clases": 3}}, "dataset: unknown key 'clases'; did you mean 'num_classes'?"),
        ({"dataset": {"difficulty": 1.5}}, "dataset.difficulty: Input should be less than 1, not 1.5"),
        ({"dataset": {"split": []}}, "dataset.split: name at least one split, and each once"),
        ({"dataset": {"split": ["val", "val"]}}, "dataset.split: name at least one split, and each once"),
        ({"dataset": "Imagenette"}, "dataset must be a block of keys, not 'Imagenette'"),
        (
            {"preprocess": False, "dataset": {"weights": "ResNet18_Weights.DEFAULT"}},
            "dataset.weights says how to preprocess, and preprocess is false: remove one of them",
        ),
    ],
)
def test_what_is_wrong_with_the_keys_is_said_when_the_file_is_read(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        TorchVisionDataLoader(**keys)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"dataset": {"component": "torchvision.datasets.Imagenette"}},
            (
                "torchvision.datasets.Imagenette cannot be read from tmp/torchvision_dataset/Imagenette (Dataset not "
                "found. You can use download=True to download it). Set dataset.root to the folder that has it, or let "
                "it be downloaded with `download: true`"
            ),
        ),
        (
            {"dataset": {"component": "torchvision.datasets.CIFAR10", "root": "here"}},
            (
                "torchvision.datasets.CIFAR10 cannot be read from here (Dataset not found or corrupted. You can use "
                "download=True to download it). Set dataset.root to the folder that has it, or let it be downloaded "
                "with `download: true`"
            ),
        ),
        (
            {"dataset": {"component": "torchvision.datasets.ImageNet"}},
            "torchvision.datasets.ImageNet cannot be read from tmp/torchvision_dataset/ImageNet (",
        ),
        (
            {"dataset": {"root": "nowhere"}},
            (
                "torchvision.datasets.ImageFolder cannot be read from nowhere ([Errno 2] No such file or directory: "
                "'nowhere'). Set dataset.root to the folder that has it, or put it there"
            ),
        ),
        (
            {"dataset": {"component": "torchvision.datasets.Imagenet"}},
            "dataset.component: nothing is at 'torchvision.datasets.Imagenet'",
        ),
        (
            {"dataset": {"component": "torchvision.datasets.Imagenette", "split": "test"}},
            "dataset: torchvision.datasets.Imagenette: Unknown value 'test' for argument split. Valid values are {",
        ),
        (
            {"dataset": {"component": "torchvision.datasets.FakeData", "sise": 3}},
            "dataset: unknown key 'sise' of torchvision.datasets.FakeData; did you mean 'size'?",
        ),
        (
            {"dataset": {"split": ["train", "test"]}},
            "dataset.split: unknown split 'test' (known: train, val); the generated data set is cut into these two",
        ),
        (
            {"dataset": {"component": "torchvision.datasets.CIFAR10", "split": ["trian"]}},
            "dataset.split: unknown split 'trian'; did you mean 'train'? (known: train, val, test)",
        ),
        (
            {"batch_size": 64, "dataset": SMALL},
            (
                "batch_size is 64, and the split 'val' has 32 images: not one full batch. Make batch_size smaller or "
                "the data set larger"
            ),
        ),
        (
            {"dataset": {"weights": "ResNet18.IMAGENET"}},
            "weights: torchvision has no 'ResNet18.IMAGENET'; they are written like ResNet18_Weights.IMAGENET1K_V1",
        ),
        ({"dataset": {"weights": "timm/resnet1"}}, "weights: unknown model 'timm/resnet1'; did you mean 'timm/resnet"),
        (
            {"dataset": {"weights": "timm/test_convnext.r16_in1k"}},
            "weights: unknown weights 'r16_in1k' of timm/test_convnext; did you mean 'r160_in1k'?",
        ),
        (
            {"dataset": {"split": ["val"]}, "training": True},
            "is_training is true, and dataset.split names none that trains: add train",
        ),
    ],
)
def test_what_is_not_there_is_said_at_set_up(
    keys: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssayError) as caught:
        loader(**keys)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir()), "nothing is downloaded or made"


def test_a_download_that_was_asked_for_and_fails_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.datasets import Imagenette

    # A port on which nobody listens stands for a network that is not there.
    monkeypatch.setattr(Imagenette, "_ARCHIVES", {"full": ("http://127.0.0.1:9/imagenette2.tgz", "0")})
    with pytest.raises(AssayError) as caught:
        loader(dataset={"component": "torchvision.datasets.Imagenette", "root": str(tmp_path), "download": True})
    assert str(caught.value).startswith(f"torchvision.datasets.Imagenette could not be downloaded to {tmp_path}: ")


def test_images_of_different_sizes_need_one_that_they_are_brought_to(folders: Path) -> None:
    stage = loader(batch_size=6, dataset={"root": str(folders)})
    with pytest.raises(AssayError, match="the images have different sizes: set `resize`, or `weights` that say a size"):
        stage.process(0)


def test_preprocessed_images_are_not_preprocessed_twice() -> None:
    stage = TorchVisionPreprocessFromWeights("ResNet18_Weights.DEFAULT")
    stage.setup(Worker())
    with pytest.raises(AssayError, match="the images that came are preprocessed already"):
        stage.process(loader().process(0))


def test_a_loader_in_a_process_of_its_own_cannot_have_workers() -> None:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_say_what_is_wrong, args=(there,), daemon=True)
    process.start()
    said = here.recv()
    process.join()
    assert said == (
        "num_workers: a stage with `run: process` cannot have processes of its own: use `num_workers: 0` there, or "
        "`run: inline` or `run: thread`"
    )


def _say_what_is_wrong(pipe: Connection) -> None:
    try:
        loader(num_workers=1)
    except AssayError as error:
        pipe.send(str(error))
