from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.llm_huggingface.conversations.token_batch import TokenBatch
from assay.stages.llm_huggingface.language_model import LanguageModel
from assay.stages.llm_huggingface.model_options import FinetuneModelOptions
from assay.stages.llm_huggingface.model_stage import ModelStage
from assay.stages.llm_huggingface.pretrained import load_causal_model, load_tokenizer
from assay.stages.llm_huggingface.training.accelerator_options import AcceleratorOptions
from assay.stages.llm_huggingface.training.adapters import with_adapters
from assay.stages.llm_huggingface.training.schedule_options import ScheduleOptions
from assay.stages.llm_huggingface.training.trainer import Trainer
from assay.stages.pytorch.device import choose_device
from assay.stages.pytorch.dtype import dtype_name, torch_dtype
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.optimizer_options import OptimizerOptions
from assay.stages.pytorch.train_step import TrainStep
from assay.stages.pytorch.training_log import TrainingLog


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
