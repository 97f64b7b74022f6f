from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.stages.llm_huggingface.conversations.token_batch import TokenBatch
from assay.stages.llm_huggingface.training.schedule_options import ScheduleOptions
from assay.stages.pytorch.device import Device
from assay.stages.pytorch.gradient_window import GradientWindow, sum_loss
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.optimizer_options import OptimizerOptions
from assay.stages.pytorch.train_step import TrainStep
from assay.stages.pytorch.training_log import TrainingLog


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
