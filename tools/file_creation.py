"""Lists the places in src/assay that create files in another way than `assay.files.writing`.

A session's folder, a history or a repository may come from somebody else, with a link or a FIFO where a file belongs.
`make lint` runs this; what is left out below writes elsewhere, and says where.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "assay"
ONE_WAY = "files/writing.py"
ELSEWHERE = {
    "benchmarks/": "input data and copies in folders that the user names or that a program has just made",
    "stages/": "output of pipelines, in folders that the user names",
    "pipeline/writer.py": "output of pipelines, in folders that the user names",
    "weights/peers/": "other stores, in folders that a benchmark has just made",
    "weights/files/": "exported models, where the user names them",
    "weights/repository_disk.py": "temporary names that nobody can guess, opened exclusively (mode x)",
    "cli/history.py": "--output, where the user names it",
    "cli/migrate.py": "--output, where the user names it, opened exclusively (mode x)",
    "cli/init.py": "files of a new project, each checked before",
    "cli/standard_streams.py": "/dev/null",
    "compat/stand_ins.py": "runs in the user's interpreter, which may have no Assay",
    "loadgen/shared_counters.py": "a folder in memory that this process has just made; exclusive",
    "loadgen/sender.py": "a folder in memory that this process has just made; exclusive",
    "loadgen/colocation/pipeline_limits.py": "control groups",
    "loadgen/colocation/pipeline_worker.py": "control groups",
    "process/spawn.py": "control groups",
    "process/limits.py": "control groups",
    "process/usage.py": "/proc",
    "native/build.py": "the compiled library",
}
_WRITING = set("wax+")
_FLAGS = {"O_CREAT", "O_WRONLY", "O_RDWR", "O_APPEND", "O_TRUNC"}
_METHODS = {"write_text", "write_bytes", "touch"}
_COPIES = {"copyfile", "copy", "copy2"}
_OURS = {"open_new", "open_append", "open_existing", "create"}


def other_ways(source: Path = SOURCE) -> Iterator[str]:
    """Yield a line for each place outside `ELSEWHERE` that creates or opens a file for writing by itself."""
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        if name == ONE_WAY or any(name.startswith(start) for start in ELSEWHERE):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (what := _creates(node)):
                yield f"{name}:{node.lineno}: {what} creates files: use assay.files.writing"


def _creates(call: ast.Call) -> str:
    """Return what creates a file in this call, or nothing."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = getattr(function.value, "id", "") if isinstance(function, ast.Attribute) else None
    if (name in _METHODS and owner is not None) or (name in _COPIES and owner == "shutil"):
        return name
    if name != "open":
        return ""
    if owner == "os":
        flags = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}
        return "os.open" if flags & _FLAGS else ""
    is_open_already = owner is None and bool(call.args) and _is_descriptor(call.args[0])
    if is_open_already or any(word.arg == "fileobj" for word in call.keywords):
        return ""
    modes = [
        *call.args[(1 if owner is None else 0) :][:1],
        *(word.value for word in call.keywords if word.arg == "mode"),
    ]
    return "open" if any(_is_writing(mode) for mode in modes) else ""


def _is_writing(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool(_WRITING & set(mode.value))


def _is_descriptor(argument: ast.expr) -> bool:
    """Whether what is opened is open already: a number, or what one of our own functions returns."""
    if isinstance(argument, ast.Constant):
        return isinstance(argument.value, int)
    return isinstance(argument, ast.Call) and getattr(argument.func, "id", "") in _OURS


def main() -> int:
    found = list(other_ways())
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
