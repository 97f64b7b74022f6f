"""Counts the words of JSONL documents in one of two ways; an example of a script that uses Assay's own API."""

import json
import re
from pathlib import Path

import assay

WORD = re.compile(r"\w+")

with assay.benchmark() as b:
    folder = Path(b.param("input", "data"))
    algorithm = b.param("algorithm", "split")
    words = documents = 0
    for path in sorted(folder.rglob("*.jsonl")):
        with b.task("read"):
            texts = [json.loads(line)["text"] for line in path.open(encoding="utf-8")]
        with b.task("count") as task:
            for text in texts:
                words += len(text.split()) if algorithm == "split" else len(WORD.findall(text))
            task.record("documents", len(texts))
        documents += len(texts)
    if not documents:
        raise SystemExit(f"no documents in {folder}")
    b.metric("documents", documents)
    b.metric("words", words)
    b.metric("documents_per_s", documents / b.elapsed, unit="1/s", better="higher")
