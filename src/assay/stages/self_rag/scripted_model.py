from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from assay.errors import UsageError
from assay.names import unknown
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.self_rag.asked.question import Purpose, Question

Script = Mapping[str, Any]
"""Purpose → an answer, or answers in order. YAML reads a bare yes or no as true or false."""


class PlainChat:
    """A tokenizer for models that need none: prompts stay words."""

    chat_template = "plain"

    def apply_chat_template(self, messages: Sequence[Mapping[str, str]], **_: Any) -> str:
        return "\n".join(f"{message['role']}: {message['content']}" for message in messages)


class ScriptedModel(Stage[PromptBatch, AnswerBatch]):
    """Answers from a script instead of a model, to study routes and the cost of a graph alone.

    `script` has an answer, or several for the first, second … time a question asks, for each purpose (`index`, `sql`,
    `relevance`, …); `questions` has scripts for single questions, by number. In an answer `{question}` and
    `{passages}` stand for what the question is and what was found for it. Tokens are counted as words.
    """

    name = "scripted model"

    def __init__(
        self,
        script: Script | None = None,
        questions: Mapping[int, Script] | None = None,
        depends_on_id: int | None = None,
    ) -> None:
        self._script = _lines(script or {})
        self._questions = {int(number): _lines(own) for number, own in (questions or {}).items()}
        self.uses = () if depends_on_id is None else (depends_on_id,)
        self.tokenizer = PlainChat()
        self.calls = 0
        """Calls through this stage, the warm-up apart."""

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        for used in stages.values():
            if not isinstance(used, ScriptedModel):
                raise UsageError(f"depends_on_id: {type(used).__name__} has no script; name a ScriptedModel")
            self._script, self._questions = used._script, used._questions

    def setup(self, worker: Worker) -> None:
        self.calls = 0

    def start_measuring(self) -> None:
        self.calls = 0

    def process(self, data: PromptBatch) -> AnswerBatch:
        self.calls += 1
        question: Question = data.context
        said = self._line(question).replace("{question}", question.wording)
        said = said.replace("{passages}", " ".join(passage.text for passage in question.passages))
        return AnswerBatch((said,), (len(data.prompts[0].split()),), (len(said.split()),), question)

    def _line(self, question: Question) -> str:
        purpose = question.asked[-1]
        lines = self._questions.get(question.number, {}).get(purpose) or self._script.get(purpose) or ("",)
        return lines[min(question.asked.count(purpose), len(lines)) - 1]

    def measured(self) -> Sequence[Metric]:
        return (Metric("calls", self.calls, unit="1"),)


def _lines(script: Script) -> dict[str, tuple[str, ...]]:
    for purpose in script:
        if purpose not in get_args(Purpose):
            raise ValueError(f"script: {unknown('purpose', purpose, get_args(Purpose))}")
    return {
        purpose: tuple(map(_line, said if isinstance(said, list | tuple) else [said]))
        for purpose, said in script.items()
    }


def _line(said: Any) -> str:
    return str(said) if not isinstance(said, bool) else "yes" if said else "no"
