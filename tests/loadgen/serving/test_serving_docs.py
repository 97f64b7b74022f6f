from __future__ import annotations

from pathlib import Path

from assay.loadgen.serving.objectives import FORMULAS

PAGE = (Path(__file__).parents[3] / "docs" / "serving.md").read_text(encoding="utf-8")


def test_every_figure_has_its_formula_in_the_docs_word_by_word() -> None:
    missing = [name for name, formula in FORMULAS.items() if f"| `{name}` | {formula} |" not in PAGE]
    assert missing == []


def test_every_key_of_serving_json_is_in_the_docs() -> None:
    from made_exchanges import DONE, Made, delta, made_point

    from assay.loadgen.serving.result_files import point_json

    written = point_json(made_point([Made(0, 0, [(5, delta("a", finish="stop") + DONE)])]))
    keys = [*written, *written["asked"], *written["delivered"], *written["verdict"], *written["over_time"]]
    assert [key for key in keys if f"`{key}`" not in PAGE and f".{key}`" not in PAGE] == []
