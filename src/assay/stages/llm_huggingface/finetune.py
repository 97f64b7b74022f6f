from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.errors import UsageError
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.llm_huggingface.chat import TokenBatch
from assay.stages.llm_huggingface.models import (
    FinetuneModelOptions,
    LanguageModel,
    ModelStage,
    load_causal_model,
    load_tokenizer,
)
from assay.stages.pytorch.components import OptimizerOptions, Options
from assay.stages.pytorch.device import Device, choose_device, dtype_name, library, quiet, torch_dtype
from assay.stages.pytorch.training import GradientWindow, TrainingLog, TrainStep, sum_loss


class AcceleratorOptions(Options):
    is_enabled: bool = False

    def build(self, device: Any) -> Any:
        """An `accelerate.Accelerator`, or None. The model is on its device already, so it is not moved again."""
        if not self.is_enabled:
            return None
        return library("accelerate", "llm").Accelerator(cpu=device.type == "cpu", device_placement=False)


def with_adapters(model: Any, options: FinetuneModelOptions) -> Any:
    """The model with low-rank adapters (LoRA; Hu et al., 2021), which alone are trained; itself where the rank is 0."""
    if options.lora_rank == 0:
        return model.requires_grad_(True)
    modules = options.lora_attn_modules
    with quiet():
        peft = library("peft", "llm")
        if options.quantize:
            model = peft.prepare_model_for_kbit_training(model)
        config = peft.LoraConfig(
            r=options.lora_rank,
            lora_alpha=options.lora_alpha,
            lora_dropout=options.lora_dropout,
            target_modules=modules if isinstance(modules, str) else list(modules),
            task_type="CAUSAL_LM",
        )
        try:
            return peft.get_peft_model(model, config)
        except ValueError as error:
            raise UsageError(f"model.lora_attn_modules: {error}") from None


Name = Literal[
    "constant",
    "constant_with_warmup",
    "cosine",
    "cosine_with_min_lr",
    "cosine_with_restarts",
    "inverse_sqrt",
    "linear",
    "polynomial",
]
"""Schedules of transformers that need to know nothing of the training but its length."""
ENDLESS = ("constant", "constant_with_warmup", "inverse_sqrt")
"""Schedules that do not ask how many steps there will be."""


class ScheduleOptions(Options):
    """`lr_scheduler`: how the learning rate goes up and down, by optimiser steps."""

    name: Name = "constant"
    num_warmup_steps: Annotated[int, Field(ge=0)] = 0
    num_training_steps: Annotated[int, Field(ge=1)] | None = None
    """Left out: one pass over the data."""
    scheduler_specific_kwargs: dict[str, Any] = {}

    def build(self, optimizer: Any, steps: int | None) -> Any:
        """`steps`: number of steps in one pass over the data, where that is known."""
        most = self.num_training_steps or steps
        if most is None and self.name not in ENDLESS:
            raise UsageError(
                f"lr_scheduler: {self.name} must know how long the training is: give num_training_steps, or a data "
                "loader with tokenizer_stage_id"
            )
        return library("transformers", "llm").get_scheduler(
            self.name, optimizer, self.num_warmup_steps, most, self.scheduler_specific_kwargs or None
        )


class Trainer:
    """Weights, an optimiser and a schedule: one step every `batches` batches."""

    def __init__(
        self,
        model: Any,
        accelerator: Any,
        optimizer: OptimizerOptions,
        schedule: ScheduleOptions,
        batches: int,
        longest: float | None,
    ) -> None:
        """`longest`: gradients of a greater norm are shortened to it."""
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._optimizer_options, self._schedule_options = optimizer, schedule
        self.optimizer = optimizer.build(self.parameters)
        self.model, self._step_optimizer = model, self.optimizer
        self._accelerator = accelerator
        if accelerator is not None:
            self.model, self._step_optimizer = accelerator.prepare(model, self.optimizer)
        self._schedule: Any = None
        self._longest = float("inf") if longest is None else longest
        self._clip: Callable[..., Any] = library("torch.nn.utils", "llm").clip_grad_norm_
        self.batches = batches
        self.batches_a_pass: int | None = None
        """Batches in one pass over the data, where that is known: schedules that end take one pass."""
        self.window = GradientWindow(batches)

    def learn(self, batch: TokenBatch, log: TrainingLog) -> TrainStep:
        window, tokens = self.window, batch.label_tokens
        loss = sum_loss(self._logits(batch), batch.labels)
        self._backward(window.weigh(loss, tokens))
        value = loss.item()
        last = window.add(value, tokens)
        if last:
            self._step(log)
        return TrainStep(value / max(tokens, 1), last, batch.tokens)

    def judge(self, batch: TokenBatch, log: TrainingLog) -> TrainStep:
        with library("torch", "llm").inference_mode():
            loss = sum_loss(self._logits(batch), batch.labels).item()
        log.judged_loss += loss
        log.judged_tokens += batch.label_tokens
        return TrainStep(loss / max(batch.label_tokens, 1), False, batch.tokens)

    def drop_gradients(self) -> None:
        """Forgets the gradients of batches that have not come to a step."""
        self.window.reset()
        self._step_optimizer.zero_grad()

    def compute_once(self, device: Device) -> None:
        """Forward and backward, and an optimiser and a schedule of the same kinds on a weight of their own: what is
        built or imported at the first use is not part of the first query, and no weight of the model changes."""
        torch = library("torch", "llm")
        self.model.train()
        ids = torch.zeros((2, 8), dtype=torch.long, device=device.torch)
        self._backward(sum_loss(self.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits, ids))
        self._clip(self.parameters, self._longest)
        self._step_optimizer.zero_grad()
        weight = torch.nn.Parameter(torch.zeros(1, device=device.torch))
        weight.grad = torch.zeros_like(weight)
        throwaway = self._optimizer_options.build([weight])
        schedule = self._schedule_options.build(throwaway, steps=1)
        throwaway.step()
        schedule.step()
        device.synchronise()

    def _step(self, log: TrainingLog) -> None:
        window = self.window
        if self._schedule is None:
            passes = self.batches_a_pass
            steps = None if passes is None else max(passes // self.batches, 1)
            self._schedule = self._schedule_options.build(self.optimizer, steps)
        if self.batches > 1:
            window.normalise([parameter.grad for parameter in self.parameters if parameter.grad is not None])
        norm = self._clip(self.parameters, self._longest)
        self._step_optimizer.step()
        self._schedule.step()
        self._step_optimizer.zero_grad()
        log.losses.append(window.mean_loss)
        log.norms.append(norm.item())
        window.reset()

    def _backward(self, loss: Any) -> None:
        if self._accelerator is None:
            loss.backward()
        else:
            self._accelerator.backward(loss)

    def _logits(self, batch: TokenBatch) -> Any:
        return self.model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, use_cache=False).logits


class HuggingFaceFinetune(ModelStage, Stage[Any, TrainStep]):
    """Trains a language model on the batches it is given; with LoRA unless `lora_rank` is 0.

    Batches of another split than `train`, or all where the load is not training, are only judged.
    """

    name = "finetune"
    stateful = True
    learns = True

    def __init__(
        self,
        model: Mapping[str, Any] | None = None,
        dtype: str = "float32",
        device: str | None = None,
        optimizer: Mapping[str, Any] | None = None,
        lr_scheduler: Mapping[str, Any] | None = None,
        gradient_accumulation_steps: int = 1,
        max_grad_norm: float | None = None,
        accelerator: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.options = FinetuneModelOptions.read("model", model)
        self.options.require_gpu(device)
        self.dtype = dtype_name(dtype)
        self.device = device
        self.optimizer_options = OptimizerOptions.read("optimizer", optimizer)
        self.schedule_options = ScheduleOptions.read("lr_scheduler", lr_scheduler)
        if gradient_accumulation_steps < 1:
            raise ValueError(f"gradient_accumulation_steps must be at least 1, not {gradient_accumulation_steps}")
        if max_grad_norm is not None and not max_grad_norm > 0:
            raise ValueError(f"max_grad_norm must be greater than 0, not {max_grad_norm}")
        self.accumulated = gradient_accumulation_steps
        self.max_grad_norm = max_grad_norm
        self.accelerator_options = AcceleratorOptions.read("accelerator", accelerator)
        self.seed = seed
        self._training: bool | None = None
        self._log = TrainingLog()
        self._taking_s = 0.0
        """Seconds spent in here since the last optimiser step."""

    def expect_batches(self, count: int) -> None:
        self._trainer.batches_a_pass = count

    def setup(self, worker: Worker) -> None:
        torch = library("torch", "llm")
        device = choose_device(self.device, worker.device)
        name = self.options.name
        loaded = load_causal_model(name, torch_dtype(self.dtype), device.torch, self.options.quantize)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            model = with_adapters(loaded, self.options)
        self._trainer = Trainer(
            model,
            self.accelerator_options.build(device.torch),
            self.optimizer_options,
            self.schedule_options,
            self.accumulated,
            self.max_grad_norm,
        )
        self._training = worker.training
        self._language_model = LanguageModel(name, self._trainer.model, load_tokenizer(name), device, self.dtype)
        self._trainer.compute_once(device)
        torch.manual_seed(self.seed)  # For dropout, whatever the set-up has drawn.

    def process(self, data: Any) -> TrainStep:
        began = perf_counter()
        if not isinstance(data, TokenBatch) or data.labels is None:
            raise UsageError(
                f"Finetune was given a {type(data).__name__} without labels: put a HuggingFaceDataLoader before it, "
                "with tokenizer_stage_id the id of this stage"
            )
        train = data.split == "train" if self._training is None else self._training
        lm, trainer = self.language_model, self._trainer
        with lm.lock:
            batch = data.to(lm.device.torch)
            lm.set_training(train)
            step = trainer.learn(batch, self._log) if train else trainer.judge(batch, self._log)
            lm.device.synchronise()
        if train:
            self._count(step, perf_counter() - began)
        return step

    def _count(self, step: TrainStep, took: float) -> None:
        log = self._log
        log.busy_s += took
        log.tokens += step.tokens
        self._taking_s += took
        if step.stepped:
            log.seconds.append(self._taking_s)
            self._taking_s = 0.0

    def start_measuring(self) -> None:
        """The measured part begins with a step of its own: what the warm-up has half accumulated is dropped."""
        self._log = TrainingLog()
        self._taking_s = 0.0
        self._trainer.drop_gradients()

    def measured(self) -> Sequence[Metric]:
        trained = sum(parameter.numel() for parameter in self._trainer.parameters)
        left = Metric("batches_without_step", self._trainer.window.count, exact=True)
        return (*self._log.metrics(), left, Metric("trained_parameters", trained, exact=True))

    def notes(self) -> Sequence[str]:
        said = [self.language_model.device.note] if self.language_model.device.note else []
        if left := self._trainer.window.count:
            said.append(
                f"the last {left} of its batches changed no weight: a step takes {self.accumulated} of them "
                "(gradient_accumulation_steps)"
            )
        return said
