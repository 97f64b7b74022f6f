from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import DataError, UsageError
from assay.stages.llm_torchtune.tiny_folder import tiny_folder
from assay.stages.llm_torchtune.torchtune_library import current, torchtune
from assay.stages.pytorch.build_component import build_component
from assay.stages.pytorch.libraries import quiet
from assay.stages.pytorch.options import ComponentOptions

_FILES = ("path", "merges_file", "special_tokens_path")


class TokenizerOptions(ComponentOptions):
    """`path` is the file that torchtune's tokenizer of that family reads: vocab.json, tokenizer.model, …"""

    component: str = "torchtune.models.qwen2_5.qwen2_5_tokenizer"


def build_tokenizer(given: Mapping[str, Any] | None) -> Any:
    """The tokenizer that a block of keys names; the tiny model's where there is no block."""
    torchtune()
    if not given:
        folder = tiny_folder()
        given = {
            "component": "torchtune.models.qwen2.qwen2_tokenizer",
            "path": str(folder / "vocab.json"),
            "merges_file": str(folder / "merges.txt"),
            "special_tokens_path": str(folder / "tokenizer.json"),
        }
    options = TokenizerOptions.read("tokenizer", given)
    for key in _FILES:
        name = options.arguments.get(key)
        if name is not None and not Path(name).is_file():
            raise DataError(
                f"tokenizer.{key}: there is no file {Path(name).absolute()}: download the model's folder "
                "(`hf download OWNER/NAME --local-dir FOLDER`), or leave `tokenizer` out for the tiny one"
            )
    try:
        with quiet():
            return build_component("tokenizer", current(options), "torchtune")
    except KeyError as error:
        raise UsageError(
            f"tokenizer: {options.component} wants the token {error}, which its files do not have"
        ) from None


def padding_id(tokenizer: Any) -> int:
    found = getattr(tokenizer, "pad_id", None)
    return 0 if found is None else int(found)


def answer_header(tokenizer: Any) -> list[int]:
    """Tokens that open every answer of a ChatML tokenizer: they are given to the model, not asked of it."""
    if not hasattr(tokenizer, "im_start_id"):
        return []
    return [tokenizer.im_start_id, *tokenizer.encode("assistant\n", add_bos=False, add_eos=False)]
