"""Why a room is entered again after it was left, by walk and room: what tools/trace_walks.py demands."""

from __future__ import annotations

REASONS: dict[str, dict[str, str]] = {
    "a run": {
        "analysis": "the comparison is put into words for the terminal and drawn in the report, which has insights too",
        "capture": "the machine is looked at when the session starts, the fingerprint is made when a run has ended",
        "config": "files are read first and planned after that; the plan is then asked by whoever carries it out",
        "document": "a value keeps its place in the file, so that a message about it can name the line",
        "history": "it hears one event at a time, and is asked at the end what ran before",
        "process": "a supervisor is started, and heard until it ends",
        "record": "it is the contract: whoever makes, keeps, compares or shows a run reads and writes it",
        "report": "it is asked what the terminal can show, and makes the page and the table at the end",
        "session": "its folder is opened before anybody can listen, and it runs once all do",
        "sinks": "they hear one event at a time",
        "stats": "each metric is judged by itself",
    },
    "a recording": {
        "native": "a batch is handed to the library once a step, and stays there in between",
        "pipeline": "it is built before the clock starts and run after that",
        "record": "parameters, each stage's times and each metric are noted when they are known",
        "stages": "they are made by the program, and driven by the executor: one call a batch",
    },
    "a tensor": {
        "bases": "a tensor is first looked up by its name, then by what it is like",
        "benchmarks": "each command of `assay weights` knows the words of all, `bench` among them",
        "cli": "they are three commands",
        "codec": "it is asked what a way of coding costs, and then codes one chunk a call",
        "files": "a tensor is read from the file when it is its turn, and written when it is checked out",
        "formats": "each command checks the format of what it opens",
        "packs": "it writes and reads chunks, and is asked where they are and whether a type can be stored",
        "versions": "a commit begins before its tensors are stored and is written after them; a checkout reads it",
        "weights": "a repository is made, committed to and read; element types and the disk serve all of its rooms",
    },
}
