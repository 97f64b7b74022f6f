"""The graph of 22 stages that users bring, with a scripted model in the place of each of its inference stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.loadgen import Graph, LoadGen, LoadResult, Node, SingleStreamLoadScheduler, Stop
from assay.stages.self_rag import (
    AnswerGeneratorFormatter,
    AnswerGraderFormatter,
    BinaryRouter,
    HallucinationGraderFormatter,
    IndexRouter,
    LLMGeneratorFormatter,
    QuestionRewriterFormatter,
    RAGDataLoader,
    RetrievalGraderFormatter,
    ScriptedModel,
    SQLiteSearch,
    SQLQueryGeneratorFormatter,
)
from assay.stages.self_rag.question import Question, question_of
from assay.stages.synthetic import NoOp

Script = Mapping[str, Any]


def decomposed(script: Script, questions: Mapping[int, Script] | None = None, models: str = "inline") -> Graph:
    """`models` is where the stages that call the model run."""

    def model(id: int, to: int) -> Node:
        stage = ScriptedModel(script, questions) if id == 1 else ScriptedModel(depends_on_id=1)
        return Node(id, stage, "infer", (to,), place=models)  # type: ignore[arg-type]

    def router(yes: int, no: int, retry_is_yes: bool) -> BinaryRouter:
        return BinaryRouter(2, retry_is_yes, yes, no, end_stage_id=17)

    nodes = [
        Node(0, RAGDataLoader(tokenizer_stage_id=1), outputs=(1,)),
        model(1, 2),
        Node(2, IndexRouter(sqlite_stage_id=3, llm_stage_id=20), outputs=(3, 20)),
        Node(3, SQLQueryGeneratorFormatter(tokenizer_stage_id=4, schema_stage_id=5), outputs=(4,)),
        model(4, 5),
        Node(5, SQLiteSearch(), outputs=(6,)),
        Node(6, RetrievalGraderFormatter(tokenizer_stage_id=7), outputs=(7,)),
        model(7, 8),
        Node(8, router(9, 18, retry_is_yes=False), outputs=(9, 18, 17)),
        Node(9, AnswerGeneratorFormatter(tokenizer_stage_id=10), outputs=(10,)),
        model(10, 11),
        Node(11, HallucinationGraderFormatter(tokenizer_stage_id=12), outputs=(12,)),
        model(12, 13),
        Node(13, router(9, 14, retry_is_yes=True), outputs=(14, 9, 17)),
        Node(14, AnswerGraderFormatter(tokenizer_stage_id=15), outputs=(15,)),
        model(15, 16),
        Node(16, router(17, 18, retry_is_yes=False), outputs=(17, 18)),
        Node(17, NoOp(), join="each"),
        Node(18, QuestionRewriterFormatter(tokenizer_stage_id=19), outputs=(19,)),
        model(19, 3),
        Node(20, LLMGeneratorFormatter(tokenizer_stage_id=21), outputs=(21,)),
        model(21, 17),
    ]
    return Graph.build(nodes, inputs=[0], outputs=[17], dataset=0)


def asked(graph: Graph, count: int = 1, scheduler: Any = None) -> tuple[dict[int, Question], LoadResult]:
    """The questions as they ended, by query, and the result of the run."""
    ended: dict[int, Question] = {}
    result = LoadGen(
        graph,
        scheduler or SingleStreamLoadScheduler(),
        Stop(max_queries=count),
        keep=lambda query, payload: ended.__setitem__(query, question_of(payload)),
    ).run()
    assert result.completed == count, result.ending
    return ended, result


def visits(result: LoadResult) -> dict[int, int]:
    return {id: stage.latency.count for id, stage in result.stages.items() if stage.latency.count}


def figures(result: LoadResult, stage: int) -> dict[str, Any]:
    return {metric.name: metric.value for metric in result.reports[stage].metrics}
