"""What is read out of the answers of models, and how they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assay.errors import UsageError
from assay.pipeline.stage import Worker
from assay.stages.llm_huggingface.answers.answer_models import RouterAnswer, Score
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.self_rag import AnswerGeneratorFormatter, BinaryRouter, IndexRouter, RAGDataLoader, ScriptedModel
from assay.stages.self_rag.question import Chat, Passage, Purpose, Question, question_of
from assay.stages.self_rag.routers import choice, yes_or_no
from assay.stages.synthetic import NoOp


def answered(said: str, parsed: Any = None, purpose: Purpose = "relevance") -> Question:
    asked = Question(0, "Why?").ask(purpose)
    return question_of(AnswerBatch((said,), (11,), (7,), asked, (parsed,)))


@pytest.mark.parametrize(
    ("said", "parsed", "meant"),
    [
        ("yes", None, True),
        ("Yes.", None, True),
        ("**NO**", None, False),
        ("No, although yesterday it was yes", None, False),
        ("Yesterday nothing was known", None, None),
        ('{"score": "no"}', None, False),
        ('{"score": true}', None, True),
        ("", None, None),
        ("whatever", Score(score=True), True),
        ("yes", Score(score=False), False),
        ("yes", {"binary_score": "no"}, False),
    ],
)
def test_yes_and_no_are_read_from_words_and_from_fields(said: str, parsed: Any, meant: bool | None) -> None:
    assert yes_or_no(answered(said, parsed)) is meant


@pytest.mark.parametrize(
    ("said", "parsed", "index"),
    [
        ("SQLite", None, "sqlite"),
        ("use the llm, not sqlite", None, "llm"),
        ("a database", None, None),
        ("?", RouterAnswer(index_backend="sqlite"), "sqlite"),
    ],
)
def test_an_index_is_read_from_words_and_from_fields(said: str, parsed: Any, index: str | None) -> None:
    assert choice(("sqlite", "llm"), answered(said, parsed)) == index


def test_an_answer_goes_where_its_purpose_says_and_tokens_add_up() -> None:
    assert answered(" 42 ", purpose="direct").answer == "42"
    assert answered("SELECT 1", purpose="sql").sql == "SELECT 1"
    assert answered("What?", purpose="rewrite").wording == "What?"
    assert answered(" \n", purpose="rewrite").wording == "Why?"
    assert answered("yes").answer == ""
    twice = question_of(AnswerBatch(("no",), (5,), (1,), answered("yes").ask("useful")))
    assert (twice.prompt_tokens, twice.answer_tokens, twice.asked) == (16, 8, ("relevance", "useful"))


def test_what_is_no_question_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a question, or a model's answer to one, not str"):
        question_of("Why?")


class Template:
    chat_template: str | None = "t"

    def __init__(self, roles: Sequence[str]) -> None:
        self._roles = roles

    def apply_chat_template(self, messages: list[dict[str, str]], tokenize: bool, add_generation_prompt: bool) -> str:
        if any(message["role"] not in self._roles for message in messages):
            raise RuntimeError("this template has no such role")
        return "".join(f"<{message['role']}>{message['content']}" for message in messages)


def test_a_template_without_a_part_for_the_system_gets_it_with_the_question() -> None:
    assert Chat(Template(["system", "user"])).prompt("S", "U") == "<system>S<user>U"
    assert Chat(Template(["user"])).prompt("S", "U") == "<user>S\n\nU"
    none = Template(["user"])
    none.chat_template = None
    assert Chat(none).prompt("S", "U") == "S\n\nU\n\nAnswer: "
    assert Chat(none).note == "the tokenizer has no chat template: prompts are plain text"


def test_a_prompt_has_the_passages_and_the_question() -> None:
    formatter = AnswerGeneratorFormatter(tokenizer_stage_id=3)
    formatter.link({3: ScriptedModel()})
    formatter.setup(Worker())
    question = Question(0, "Who?", rows=(Passage("a", "A row.", row=True),), documents=(Passage("b", "A document."),))
    batch = formatter.process(question)
    assert batch.prompts[0].endswith("user: Passages:\n[1] A row.\n[2] A document.\n\nQuestion: Who?")
    assert batch.context == question.ask("answer")


def test_a_stage_without_a_tokenizer_is_named() -> None:
    formatter = AnswerGeneratorFormatter(tokenizer_stage_id=3)
    formatter.link({3: NoOp()})
    with pytest.raises(UsageError, match="tokenizer_stage_id: NoOp has no tokenizer"):
        formatter.setup(Worker())


def test_a_stage_without_a_script_is_named() -> None:
    with pytest.raises(UsageError, match="depends_on_id: NoOp has no script; name a ScriptedModel"):
        ScriptedModel(depends_on_id=1).link({1: NoOp()})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RAGDataLoader(batch_size=2), "batch_size must be 1, not 2: each question takes its own way"),
        (lambda: BinaryRouter(-1, True, 1, 2, 3), "max_retries must be a whole number of 0 or more, not -1"),
        (lambda: BinaryRouter(1, "yes", 1, 2, 3), "retry_is_yes must be true or false, not 'yes'"),
        (lambda: IndexRouter(1, 2, unclear="sql"), "unclear: unknown index 'sql'; did you mean 'sqlite'"),
        (lambda: ScriptedModel({"grade": "yes"}), "script: unknown purpose 'grade'"),
    ],
)
def test_wrong_values_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_script_reads_as_yaml_wrote_it() -> None:
    model = ScriptedModel({"relevance": [False, True]})
    once = Question(0, "Why?").ask("relevance")
    assert model.process(PromptBatch(("?",), once)).texts == ("no",)
    assert model.process(PromptBatch(("?",), once.ask("relevance"))).texts == ("yes",)
    assert model.process(PromptBatch(("?",), once.ask("relevance").ask("relevance"))).texts == ("yes",)
