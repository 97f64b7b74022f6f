from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.llm_huggingface.accelerator_options import AcceleratorOptions
from assay.stages.llm_huggingface.adapters import with_adapters
from assay.stages.llm_huggingface.language_model import LanguageModel
from assay.stages.llm_huggingface.model_options import FinetuneModelOptions
from assay.stages.llm_huggingface.model_stage import ModelStage
from assay.stages.llm_huggingface.pretrained import load_causal_model, load_tokenizer
from assay.stages.llm_huggingface.schedule_options import ScheduleOptions
from assay.stages.llm_huggingface.token_batch import TokenBatch
from assay.stages.pytorch.device import choose_device
from assay.stages.pytorch.dtype import dtype_name, torch_dtype
from assay.stages.pytorch.gradient_window import GradientWindow, summed_loss
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.optimizer_options import OptimizerOptions
from assay.stages.pytorch.train_step import TrainStep
from assay.stages.pytorch.training_log import TrainingLog


class Finetune(ModelStage, Stage[Any, TrainStep]):
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
        self._batches_a_pass: int | None = None
        self._training: bool | None = None
        self._schedule: Any = None
        self._log = TrainingLog()
        self._window = GradientWindow(self.accumulated)

    def expect_batches(self, count: int) -> None:
        self._batches_a_pass = count

    def setup(self, worker: Worker) -> None:
        torch = library("torch", "llm")
        device = choose_device(self.device, worker.device)
        name = self.options.name
        loaded = load_causal_model(name, torch_dtype(self.dtype), device.torch, self.options.quantize)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            model = with_adapters(loaded, self.options)
        self._parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = self.optimizer_options.build(self._parameters)
        self.accelerator = self.accelerator_options.build(device.torch)
        if self.accelerator is not None:
            model, optimizer = self.accelerator.prepare(model, optimizer)
        self._optimizer = optimizer
        self._schedule = None
        self._norm_limit = float("inf") if self.max_grad_norm is None else self.max_grad_norm
        self._training = worker.training
        self._clip = torch.nn.utils.clip_grad_norm_
        self._language_model = LanguageModel(name, model, load_tokenizer(name), device, self.dtype)
        self._model = model
        self._compute_once()
        torch.manual_seed(self.seed)  # For dropout, whatever the set-up has drawn.

    def _compute_once(self) -> None:
        """Forward and backward, and an optimiser and a schedule of the same kinds on a weight of their own: what is
        built or imported at the first use is not part of the first query, and no weight of the model changes."""
        torch, lm = library("torch", "llm"), self.language_model
        lm.set_training(True)
        ids = torch.zeros((2, 8), dtype=torch.long, device=lm.device.torch)
        self._backward(summed_loss(self._model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits, ids))
        self._clip(self._parameters, self._norm_limit)
        self._optimizer.zero_grad()
        weight = torch.nn.Parameter(torch.zeros(1, device=lm.device.torch))
        weight.grad = torch.zeros_like(weight)
        throwaway = self.optimizer_options.build([weight])
        schedule = self.schedule_options.build(throwaway, steps=1)
        throwaway.step()
        schedule.step()
        lm.device.synchronise()

    def _backward(self, loss: Any) -> None:
        if self.accelerator is None:
            loss.backward()
        else:
            self.accelerator.backward(loss)

    def process(self, data: Any) -> TrainStep:
        began = perf_counter()
        if not isinstance(data, TokenBatch) or data.labels is None:
            raise UsageError(
                f"Finetune was given a {type(data).__name__} without labels: put a HuggingFaceDataLoader before it, "
                "with tokenizer_stage_id the id of this stage"
            )
        train = data.split == "train" if self._training is None else self._training
        lm = self.language_model
        with lm.lock:
            batch = data.to(lm.device.torch)
            lm.set_training(train)
            step = self._learn(batch) if train else self._judge(batch)
            lm.device.synchronise()
        if train:
            took = perf_counter() - began
            self._log.busy_s += took
            self._log.tokens += batch.tokens
            self._taking_s += took
            if step.stepped:
                self._log.seconds.append(self._taking_s)
                self._taking_s = 0.0
        return step

    _taking_s = 0.0
    """Seconds since the last optimiser step that were spent in here."""

    def _learn(self, batch: TokenBatch) -> TrainStep:
        window, tokens = self._window, batch.label_tokens
        loss = summed_loss(self._logits(batch), batch.labels)
        self._backward(window.weighted(loss, tokens))
        value = loss.item()
        last = window.add(value, tokens)
        if last:
            self._step()
        return TrainStep(value / max(tokens, 1), last, batch.tokens)

    def _step(self) -> None:
        window = self._window
        if self._schedule is None:
            self._schedule = self.schedule_options.build(self._inner_optimizer, self._steps_a_pass)
        window.normalise([parameter.grad for parameter in self._parameters if parameter.grad is not None])
        norm = self._clip(self._parameters, self._norm_limit)
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad()
        self._log.losses.append(window.mean_loss)
        self._log.norms.append(norm.item())
        window.reset()

    def _judge(self, batch: TokenBatch) -> TrainStep:
        with library("torch", "llm").inference_mode():
            loss = summed_loss(self._logits(batch), batch.labels).item()
        self._log.judged_loss += loss
        self._log.judged_tokens += batch.label_tokens
        return TrainStep(loss / max(batch.label_tokens, 1), False, batch.tokens)

    def _logits(self, batch: TokenBatch) -> Any:
        return self._model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, use_cache=False).logits

    @property
    def _inner_optimizer(self) -> Any:
        return getattr(self._optimizer, "optimizer", self._optimizer)

    @property
    def _steps_a_pass(self) -> int | None:
        return None if self._batches_a_pass is None else max(self._batches_a_pass // self.accumulated, 1)

    def start_measuring(self) -> None:
        """The measured part begins with a step of its own: what the warm-up has half accumulated is dropped."""
        self._log = TrainingLog()
        self._window.reset()
        self._taking_s = 0.0
        self._optimizer.zero_grad()

    def measured(self) -> Sequence[Metric]:
        trained = sum(parameter.numel() for parameter in self._parameters)
        left = Metric("batches_without_step", self._window.count, exact=True)
        return (*self._log.metrics(), left, Metric("trained_parameters", trained, exact=True))

    def notes(self) -> Sequence[str]:
        said = [self.language_model.device.note] if self.language_model.device.note else []
        if left := self._window.count:
            said.append(
                f"the last {left} of its batches changed no weight: a step takes {self.accumulated} of them "
                "(gradient_accumulation_steps)"
            )
        return said
