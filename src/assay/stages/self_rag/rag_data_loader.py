from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from assay.errors import AssayError, DataError
from assay.files.json_text import parse_json
from assay.files.reading import NAMED, RegularFile
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.pytorch.components import Options
from assay.stages.pytorch.device import library, quiet
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.self_rag.question import Chat, KnownQuestion, Question, question_of
from assay.stages.self_rag.sample_data import TownLibrary
from assay.stages.self_rag.scripted_model import Scorecard

_MOST_LINE = 16 * 2**20


class TextRowsOptions(Options):
    """Where rows of text come from, and what their columns are called."""

    path: str | None = None
    """A JSON-lines file."""
    name: str | None = None
    """A data set of the hub, or a folder that `datasets` loads."""
    subset: str | None = None
    split: str = "train"
    max_rows: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_place(self) -> TextRowsOptions:
        if (self.path is None) == (self.name is None):
            raise ValueError("give `path` or `name`, one of the two")
        return self


class CorpusOptions(TextRowsOptions):
    text_column: str = "text"
    id_column: str = "id"


class QuestionSetOptions(TextRowsOptions):
    split: str = "test"
    question_column: str = "question"
    answers_column: str = "answer"
    document_column: str = "document"


def text_rows(block: str, options: TextRowsOptions) -> list[dict[str, Any]]:
    """The rows; `block` is the key that messages name."""
    if options.path is not None:
        return _of_file(block, Path(options.path), options.max_rows)
    rows = _of_hub(str(options.name), options, f"leave `{block}` out for one that is made here")
    return [dict(row) for row in (rows if options.max_rows is None else rows.take(options.max_rows))]


def _of_hub(name: str, options: TextRowsOptions, instead: str) -> Any:
    datasets = library("datasets", "llm")
    try:
        with quiet():
            if is_path(name):
                return datasets.load_dataset(
                    str(local_path(name, "dataset", instead)), options.subset, split=options.split
                )
            try:
                where = library("huggingface_hub", "llm").snapshot_download(
                    name, repo_type="dataset", local_files_only=True
                )
            except Exception:  # noqa: BLE001  (not here, or not whole: then from the hub)
                require_reachable(name, "dataset", instead)
                where = name
            return datasets.load_dataset(where, options.subset, split=options.split)
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a file or a network may be wrong in)
        raise cannot_load(name, "dataset", error) from None


def _of_file(block: str, path: Path, most: int | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    try:
        with RegularFile(path, NAMED) as file:
            for number, line in enumerate(file.lines(_MOST_LINE), 1):
                if most is not None and len(found) == most:
                    break
                if line.strip():
                    row = parse_json(line, f"{path}:{number}")
                    if not isinstance(row, dict):
                        raise DataError(f"{path}:{number}: is no JSON object")
                    found.append(row)
    except FileNotFoundError:
        raise DataError(f"{block}: there is no file {path}; write one with: assay data questions FOLDER") from None
    return found


SYSTEM = (
    "You decide where a question is looked up. Reply sqlite if it is about particular places, people or records that a "
    "database may hold, or llm if anybody could answer it without looking. Reply with that one word."
)


class RAGDataLoader(Stage[int, Question | PromptBatch]):
    """The questions, and their score at the end.

    With `tokenizer_stage_id` a question leaves as the prompt that asks a model where to look it up, for an
    `IndexRouter` behind that model; without, as it is. `dataset` names a question set (`path` of a JSON-lines file, or
    `name` of a data set of the hub); without it the questions are about invented towns (`towns`, `seed`).
    """

    name = "RAG data loader"

    def __init__(
        self,
        tokenizer_stage_id: int | None = None,
        batch_size: int = 1,
        dataset: Mapping[str, Any] | None = None,
        towns: int = 24,
        seed: int = 0,
    ) -> None:
        if batch_size != 1:
            raise ValueError(f"batch_size must be 1, not {batch_size!r}: each question takes its own way")
        self._tokenizer_stage_id = tokenizer_stage_id
        self.uses = () if tokenizer_stage_id is None else (tokenizer_stage_id,)
        self._dataset = None if dataset is None else QuestionSetOptions.read("dataset", dataset)
        self._library = TownLibrary(towns, seed)
        self._known: list[KnownQuestion] = []
        self._model: Stage[Any, Any] | None = None
        self._chat: Chat | None = None
        self._scorecard = Scorecard()

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        if self._tokenizer_stage_id is not None:
            self._model = stages[self._tokenizer_stage_id]

    def setup(self, worker: Worker) -> None:
        self._known = self._library.questions if self._dataset is None else self._read(self._dataset)
        if self._model is not None:
            self._chat = Chat.of(self._model)
        self.start_measuring()

    def _read(self, columns: QuestionSetOptions) -> list[KnownQuestion]:
        found = []
        for number, row in enumerate(text_rows("dataset", columns), 1):
            if not isinstance(text := row.get(columns.question_column), str) or not text.strip():
                raise DataError(f"dataset: row {number} has no text in {columns.question_column!r}")
            answers = row.get(columns.answers_column)
            several = answers if isinstance(answers, list) else [] if answers is None else [answers]
            document = row.get(columns.document_column)
            found.append(KnownQuestion(text, tuple(map(str, several)), "" if document is None else str(document)))
        return found

    def __len__(self) -> int:
        return len(self._known)

    def process(self, data: int) -> Question | PromptBatch:
        question = Question(data, self._known[data].text)
        if self._chat is None:
            return question
        return PromptBatch((self._chat.prompt(SYSTEM, f"Question: {question.text}"),), question.ask("index"))

    def start_measuring(self) -> None:
        self._scorecard = Scorecard()

    def score(self, result: Any) -> None:
        question = question_of(result)
        self._scorecard.add(question, self._known[question.number])

    def measured(self) -> Sequence[Metric]:
        return self._scorecard.metrics()

    def notes(self) -> Sequence[str]:
        return (self._chat.note,) if self._chat is not None and self._chat.note else ()
