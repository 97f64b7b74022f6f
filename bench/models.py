"""What the framework adds to training: `make bench-models`.

One run: each batch goes through the pipeline and through a loop as anybody would write it, on a second model with the
same weights, so that both meet the same machine, step by step. Which of the two comes first changes with every batch:
the second finds memory of the very sizes it needs. The CPU of the whole process counts, the recorder's thread
included. Both must come to the same losses, or they were not the same work.
"""

from __future__ import annotations

import sys
from time import process_time_ns
from typing import Any

import numpy as np

from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.pipeline.stage import Stage, Worker
from assay.stages.llm_huggingface import Finetune, HuggingFaceDataLoader
from assay.stages.pytorch.device import library
from bench.figures import Figures

ROUNDS = 16
"""Each with models of its own: where in memory a model lies changes its speed by more than what is looked for."""
STEPS = 65
RATE = 3e-4


class BareLoop:
    """The training itself, with what a person logs of it: loss and gradient norm."""

    def __init__(self, model: Any) -> None:
        torch = library("torch", "llm")
        self.model = model
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=RATE)
        self.schedule = library("transformers", "llm").get_scheduler("constant", self.optimizer)
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.clip = torch.nn.utils.clip_grad_norm_
        self.loss = library("torch.nn.functional", "llm").cross_entropy
        model.train()

    def forward(self, batch: Any) -> Any:
        """The loss, in a function of its own, so that logits are gone before the gradients come, as in the stage."""
        output = self.model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, use_cache=False)
        return self.loss(output.logits[:, :-1].flatten(0, 1).float(), batch.labels[:, 1:].flatten())

    def step(self, batch: Any) -> None:
        loss = self.forward(batch)
        loss.backward()
        norm = self.clip(self.parameters, float("inf"))
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()
        self.losses.append(loss.item())
        self.norms.append(norm.item())


class BatchesBesideBareSteps(Stage[int, Any]):
    """The data set of the pipeline. Batches are ready before the run: reading them is no part of either loop."""

    name = "batches"

    def __init__(self, batches: list[Any], bare: BareLoop) -> None:
        self.batches, self.bare = batches, bare
        self.calls = 0
        self.begun: list[int] = []
        self.ended: list[int] = []
        """Nanoseconds of CPU before and after each call; between an end and the next begin, the pipeline ran."""
        self.bare_ns: list[int] = []

    def __len__(self) -> int:
        return len(self.batches)

    def process(self, data: int) -> Any:
        self.begun.append(process_time_ns())
        call, self.calls = self.calls, self.calls + 1
        if call % 2 == 0:
            if call:
                self._bare_step(call - 1)
            self._bare_step(call)
        batch = self.batches[data]
        self.ended.append(process_time_ns())
        return batch

    def _bare_step(self, call: int) -> None:
        begun = process_time_ns()
        self.bare.step(self.batches[call % len(self.batches)])
        self.bare_ns.append(process_time_ns() - begun)

    def costs(self) -> tuple[float, float]:
        """Median nanoseconds of a step, bare and through the pipeline."""
        through = np.array(self.begun)[1:] - np.array(self.ended)[:-1]
        return float(np.median(self.bare_ns)), float(np.median(through))


def ready(stage: Stage[Any, Any], **links: Any) -> Any:
    stage.link(links.get("stages", {}))
    stage.setup(Worker())
    return stage


def main() -> int:
    library("torch", "llm").set_num_threads(1)
    costs = np.array([one_round() for _ in range(ROUNDS)])
    bare, through = costs.T
    ratios = through / bare
    drawn = np.random.default_rng(0).integers(0, ROUNDS, (10_000, ROUNDS))
    low, high = np.quantile(np.median(ratios[drawn], axis=1), [0.025, 0.975])
    middle = float(np.median(ratios))
    print(f"{ROUNDS} rounds of {STEPS} steps of the tiny model with batches of 8, in turns, one thread")
    found = Figures()
    found.add("CPU of a step, bare", f"{np.median(bare) / 1e6:.2f} ms")
    found.add("CPU of a step, through the pipeline", f"{np.median(through) / 1e6:.2f} ms")
    spread = f"[{_percent(low)}, {_percent(high)}], rounds {_percent(ratios.min())} to {_percent(ratios.max())}"
    found.add("the pipeline costs more", f"{_percent(middle)} {spread}", "at most 2%, goal 0.5%", middle <= 1.02)
    return found.finish()


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.2f}%"


def one_round() -> tuple[float, float]:
    other = ready(Finetune(optimizer={"lr": RATE}))
    data = ready(HuggingFaceDataLoader(batch_size=8, tokenizer_stage_id=1), stages={1: other})
    source = BatchesBesideBareSteps([data.process(n) for n in range(len(data))], BareLoop(other.model))
    graph = Graph.build([Node(0, source, outputs=(1,)), Node(1, Finetune(optimizer={"lr": RATE}))], dataset=0)
    result = LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=STEPS)).run()
    assert result.completed == STEPS, result.ending
    report = {metric.name: metric for metric in result.reports[1].metrics}
    done = len(source.bare.losses)
    np.testing.assert_allclose(report["loss"].samples[:done], source.bare.losses, rtol=1e-4)
    np.testing.assert_allclose(report["gradient_norm"].samples[:done], source.bare.norms, rtol=1e-3)
    return source.costs()


if __name__ == "__main__":
    sys.exit(main())
