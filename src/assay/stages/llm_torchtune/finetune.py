from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from assay.errors import UsageError
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.llm_torchtune.checkpoint import read_checkpointer
from assay.stages.llm_torchtune.data_loader import TuneBatch
from assay.stages.llm_torchtune.decoder import Decoder, DecoderOptions, build_decoder
from assay.stages.llm_torchtune.torchtune_library import current, takes, torchtune
from assay.stages.pytorch.components import ComponentOptions, OptimizerOptions, build_component
from assay.stages.pytorch.device import choose_device, dtype_name, library, quiet
from assay.stages.pytorch.training import GradientWindow, TrainingLog, TrainStep


class LossOptions(ComponentOptions):
    """A mean over the labels that are not ignored."""

    component: str = "torch.nn.CrossEntropyLoss"


class LabelLoss:
    """The loss of a configuration's, over the labels of a batch."""

    def __init__(self, options: LossOptions, model: Any) -> None:
        self._loss = build_component("loss", current(options), "torchtune")
        reduction = getattr(self._loss, "reduction", "mean")
        if reduction != "mean":
            raise UsageError(f"loss.reduction must be mean, not {reduction}: batches are weighed by their labels")
        self.ignored = int(getattr(self._loss, "ignore_index", torchtune("torchtune.data").CROSS_ENTROPY_IGNORE_IDX))
        """Label of a token that is not learnt."""
        if hasattr(self._loss, "num_output_chunks"):
            model.set_num_output_chunks(self._loss.num_output_chunks)

    def __call__(self, decoder: Decoder, batch: TuneBatch) -> tuple[Any, int]:
        """The mean, and the number of labels: each is predicted from the token before it."""
        torch, device = library("torch", "llm"), decoder.device.torch
        mask, places = (None if part is None else part.to(device) for part in (batch.mask, batch.input_pos))
        logits = decoder.run_uncached(batch.tokens.to(device), mask, places)
        after = batch.labels.new_full((len(batch.labels), 1), self.ignored)
        wanted = torch.hstack((batch.labels[:, 1:], after))
        count = int((wanted != self.ignored).sum())
        wanted = wanted.to(device)
        if isinstance(logits, list):  # In pieces, as losses that save memory take them.
            return self._loss(logits, wanted), count
        return self._loss(logits.flatten(0, 1), wanted.flatten()), count


class RateOptions(ComponentOptions):
    """`lr_scheduler`. Where it takes `num_training_steps` and none are given, it gets the steps of one pass over the
    data."""

    component: str = "torchtune.training.get_cosine_schedule_with_warmup"


def build_rate_schedule(options: RateOptions, optimizer: Any, steps: int | None) -> Any:
    """`steps`: number of steps in one pass over the data, where that is known."""
    wanted = current(options)
    given = wanted.arguments
    if takes(wanted.component, "num_training_steps") and "num_training_steps" not in given:
        if steps is None:
            raise UsageError(
                "lr_scheduler: it must know how long the training is: give num_training_steps, or a data loader with "
                "loss_fn_stage_id"
            )
        wanted = ComponentOptions(component=wanted.component, **{**given, "num_training_steps": steps})
    return build_component("lr_scheduler", wanted, "torchtune", optimizer)


class TorchTuneFinetune(Stage[Any, TrainStep]):
    """Trains a model of torchtune's on the batches it is given: its adapters, or all of it where it has none.

    Batches of another split than `train`, or all where the load is not training, are only judged.
    """

    name = "finetune"
    stateful = True

    def __init__(
        self,
        model: Mapping[str, Any] | None = None,
        checkpointer: Mapping[str, Any] | None = None,
        optimizer: Mapping[str, Any] | None = None,
        lr_scheduler: Mapping[str, Any] | None = None,
        loss: Mapping[str, Any] | None = None,
        gradient_accumulation_steps: int = 1,
        dtype: str = "float32",
        device: str | None = None,
        seed: int = 0,
    ) -> None:
        if gradient_accumulation_steps < 1:
            raise ValueError(f"gradient_accumulation_steps must be at least 1, not {gradient_accumulation_steps}")
        self._accumulated = gradient_accumulation_steps
        self._model_options = DecoderOptions.read("model", model)
        self._checkpointer = read_checkpointer(checkpointer)
        self._optimizer_options = OptimizerOptions.read("optimizer", optimizer)
        self._rate_options = RateOptions.read("lr_scheduler", lr_scheduler) if lr_scheduler else None
        self._loss_options = LossOptions.read("loss", loss)
        self._dtype = dtype_name(dtype)
        self._device = device
        self._seed = seed
        self._batches_a_pass: int | None = None
        self._decoder: Decoder | None = None
        self._window = GradientWindow(gradient_accumulation_steps)
        self._log = TrainingLog()
        self._taking_s = 0.0

    @property
    def decoder(self) -> Decoder:
        if self._decoder is None:
            raise UsageError("Finetune has not been set up: it has no model yet")
        return self._decoder

    @property
    def ignored_label(self) -> int:
        return self._loss.ignored

    def expect_batches(self, count: int) -> None:
        """Told by the stage that holds the data: batches of one pass, over which a learning rate falls."""
        self._batches_a_pass = count

    def setup(self, worker: Worker) -> None:
        self._training = worker.training
        device = choose_device(self._device, worker.device)
        self._decoder = build_decoder(
            self._model_options, self._checkpointer, device, self._dtype, self._seed, adapters=True
        )
        model, peft = self._decoder.model, torchtune("torchtune.modules.peft")
        if adapters := peft.get_adapter_params(model):
            peft.set_trainable_params(model, adapters)
        self._loss = LabelLoss(self._loss_options, model)
        self._parameters = [one for one in model.parameters() if one.requires_grad]
        self._optimizer = self._optimizer_options.build(self._parameters)
        self._schedule: Any = None
        self._norm = library("torch", "llm").nn.utils.get_total_norm
        with quiet():
            self._compute_once()
        library("torch", "llm").manual_seed(self._seed)  # For dropout, whatever the set-up has drawn.

    def _compute_once(self) -> None:
        """Forward and backward, and an optimiser and a schedule of the same kinds on a weight of their own: what is
        built at the first use is not part of the first query, and no weight of the model changes."""
        torch, decoder = library("torch", "llm"), self.decoder
        tokens = torch.zeros((2, 8), dtype=torch.long)
        decoder.model.train()
        loss, _ = self._loss(decoder, TuneBatch("train", tokens, (8, 8), tokens))
        loss.backward()
        self._optimizer.zero_grad()
        weight = torch.nn.Parameter(torch.zeros(1, device=decoder.device.torch))
        weight.grad = torch.zeros_like(weight)
        throwaway = self._optimizer_options.build([weight])
        schedule = None if self._rate_options is None else build_rate_schedule(self._rate_options, throwaway, steps=1)
        throwaway.step()
        if schedule is not None:
            schedule.step()
        decoder.device.synchronise()

    def process(self, data: Any) -> TrainStep:
        began = perf_counter()
        if not isinstance(data, TuneBatch) or data.labels is None:
            raise UsageError(
                f"Finetune was given a {type(data).__name__} without labels: put a TorchTuneDataLoader before it, with "
                "loss_fn_stage_id the id of this stage"
            )
        train = data.split == "train" if self._training is None else self._training
        decoder = self.decoder
        with decoder.lock:
            decoder.set_training(train)
            step = self._learn(data) if train else self._judge(data)
            decoder.device.synchronise()
        if train:
            took = perf_counter() - began
            self._log.busy_s += took
            self._log.tokens += step.tokens
            self._taking_s += took
            if step.stepped:
                self._log.seconds.append(self._taking_s)
                self._taking_s = 0.0
        return step

    def _learn(self, batch: TuneBatch) -> TrainStep:
        window = self._window
        mean, labels = self._loss(self.decoder, batch)
        window.weigh(mean * labels, labels).backward()
        value = mean.item()
        last = window.add(value * labels, labels)
        if last:
            self._step()
        return TrainStep(value, last, sum(batch.lengths))

    def _step(self) -> None:
        window = self._window
        if self._schedule is None and self._rate_options is not None:
            steps = None if self._batches_a_pass is None else max(self._batches_a_pass // self._accumulated, 1)
            self._schedule = build_rate_schedule(self._rate_options, self._optimizer, steps)
        gradients = [one.grad for one in self._parameters if one.grad is not None]
        window.normalise(gradients)
        self._log.norms.append(self._norm(gradients).item())
        self._optimizer.step()
        if self._schedule is not None:
            self._schedule.step()
        self._optimizer.zero_grad()
        self._log.losses.append(window.mean_loss)
        window.reset()

    def _judge(self, batch: TuneBatch) -> TrainStep:
        with library("torch", "llm").inference_mode():
            mean, labels = self._loss(self.decoder, batch)
        value = mean.item()
        self._log.judged_loss += value * labels
        self._log.judged_tokens += labels
        return TrainStep(value, False, sum(batch.lengths))

    def start_measuring(self) -> None:
        """The measured part begins with a step of its own: what the warm-up has half accumulated is dropped."""
        self._log = TrainingLog()
        self._window.reset()
        self._taking_s = 0.0
        self._optimizer.zero_grad()

    def measured(self) -> Sequence[Metric]:
        trained = sum(parameter.numel() for parameter in self._parameters)
        rate = float(self._optimizer.param_groups[0]["lr"])
        left = Metric("batches_without_step", self._window.count, exact=True)
        return (
            *self._log.metrics(),
            left,
            Metric("learning_rate", rate),
            Metric("trained_parameters", trained, exact=True),
        )

    def notes(self) -> Sequence[str]:
        said = list(self.decoder.notes)
        if left := self._window.count:
            said.append(
                f"the last {left} of its batches changed no weight: a step takes {self._accumulated} of them "
                "(gradient_accumulation_steps)"
            )
        return said
