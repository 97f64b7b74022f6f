"""Self-RAG: questions are looked up, the model grades its own answers, and what is not good enough is tried again.

After Asai et al., "Self-RAG: learning to retrieve, generate, and critique through self-reflection", ICLR 2024, taken
apart into stages: formatter → model → router.
"""

from assay.stages.self_rag.formatters import (
    AnswerGeneratorFormatter,
    AnswerGraderFormatter,
    HallucinationGraderFormatter,
    LLMGeneratorFormatter,
    MonolithFormatter,
    QuestionRewriterFormatter,
    RetrievalGraderFormatter,
    SQLQueryGeneratorFormatter,
)
from assay.stages.self_rag.rag_data_loader import RAGDataLoader
from assay.stages.self_rag.retriever import Retriever
from assay.stages.self_rag.routers import BinaryRouter, IndexRouter, MonolithRouter
from assay.stages.self_rag.scripted_model import ScriptedModel
from assay.stages.self_rag.sqlite_search import SQLiteSearch

__all__ = [
    "AnswerGeneratorFormatter",
    "AnswerGraderFormatter",
    "BinaryRouter",
    "HallucinationGraderFormatter",
    "IndexRouter",
    "LLMGeneratorFormatter",
    "MonolithFormatter",
    "MonolithRouter",
    "QuestionRewriterFormatter",
    "RAGDataLoader",
    "RetrievalGraderFormatter",
    "Retriever",
    "SQLQueryGeneratorFormatter",
    "SQLiteSearch",
    "ScriptedModel",
]
