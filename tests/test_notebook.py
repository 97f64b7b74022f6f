from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"


def shown(cell: Any) -> str:
    """All that a cell shows, as HTML where it has that, otherwise as text."""
    data = [output.get("data", {"text/plain": output.get("text", "")}) for output in cell.outputs]
    return "\n".join(item.get("text/html", item.get("text/plain", "")) for item in data)


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_promises() -> None:
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "kept without its outputs"
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": EXAMPLES}}).execute()
    by_word = {
        word: shown(next(cell for cell in notebook.cells if cell.cell_type == "code" and word in cell.source))
        for word in ("assay.run(", "to_pandas", ".plot(", "assay.compare(", "LoadGen(", "Repository.init(")
    }
    assert by_word["assay.run("].count("<tr>") == 3  # a head, the set-up of the data, the entry
    assert "smoke" in by_word["assay.run("]
    assert "usage.cpu_s" in by_word["to_pandas"]
    assert "<svg" in by_word[".plot("]
    assert "<iframe sandbox" in by_word["assay.compare("]
    assert "VALID" in by_word["LoadGen("]
    assert "StoreStats" in by_word["Repository.init("]
