from __future__ import annotations

import pytest

from assay.stages.pytorch.device import Device, choose_device, library

torch = library("torch", "llm")


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: request.param > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: request.param)


@pytest.mark.parametrize("gpus", [0], indirect=True)
@pytest.mark.parametrize(
    ("asked", "of_pipeline", "note"),
    [
        (None, "cpu", ""),
        ("cpu", "cuda", ""),
        (None, "cuda", "asked for cuda, which torch cannot use here: it ran on the CPU"),
        ("cuda:3", "cpu", "asked for cuda:3, which torch cannot use here: it ran on the CPU"),
        ("mps", "cpu", "asked for mps, which torch cannot use here: it ran on the CPU"),
    ],
)
@pytest.mark.usefixtures("gpus")
def test_without_a_gpu_it_is_the_cpu_with_a_note(asked: str | None, of_pipeline: str, note: str) -> None:
    chosen = choose_device(asked, of_pipeline)
    assert (str(chosen.torch), chosen.note) == ("cpu", note)


@pytest.mark.parametrize(
    ("gpus", "asked", "device"),
    [(1, "cuda", "cuda"), (2, "cuda:1", "cuda:1"), (1, "cuda:3", "cuda:0"), (1, None, "cuda")],
    indirect=["gpus"],
)
@pytest.mark.usefixtures("gpus")
def test_with_gpus_it_is_the_one_that_was_named_or_the_only_one_that_the_pipeline_sees(
    asked: str | None, device: str
) -> None:
    assert choose_device(asked, "cuda") == Device(torch.device(device))


@pytest.mark.parametrize(
    ("gpus", "asked", "message"),
    [
        (2, "cuda:2", "there is no cuda:2: this process sees 2 GPUs"),
        (0, "gpu", "device 'gpu' is not known; use cpu, cuda, cuda:N or mps"),
        (0, "meta", "device 'meta' is not one that stages run on; use cpu, cuda, cuda:N or mps"),
    ],
    indirect=["gpus"],
)
@pytest.mark.usefixtures("gpus")
def test_what_is_no_device_is_said(asked: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        choose_device(asked)
    assert str(caught.value) == message


def test_a_device_is_waited_for_where_work_is_only_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: waited.append(str(device)))
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("mps"))
    for word in ("cpu", "cuda:1", "mps"):
        Device(torch.device(word)).synchronise()
    assert waited == ["cuda:1", "mps"]
