from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from assay.errors import DataError, UsageError
from assay.names import unknown
from assay.stages.llm_torchtune.torchtune_library import current, current_path, torchtune
from assay.stages.pytorch.components import ComponentOptions, build_component
from assay.stages.pytorch.device import quiet
from assay.stages.pytorch.tiny_model import write_tiny_model

_KEPT: list[TemporaryDirectory[str]] = []
"""Folders that are deleted when the process ends."""


@cache
def tiny_folder() -> Path:
    """A folder with the tiny model and its tokenizer, as torchtune reads them; made once a process."""
    _KEPT.append(TemporaryDirectory(prefix="assay-tiny-"))
    folder = Path(_KEPT[-1].name)
    write_tiny_model(folder)
    return folder


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


class CheckpointerOptions(ComponentOptions):
    component: str = "torchtune.training.FullModelHFCheckpointer"
    checkpoint_dir: str
    checkpoint_files: tuple[str, ...] | dict[str, str] | None = None
    """Left out: all .safetensors of the folder."""
    output_dir: str | None = None
    """Where the checkpointer would write; nothing is saved by a measured run."""
    model_type: str | None = None
    """Family, as torchtune calls it (QWEN2, LLAMA3); left out, what config.json says."""

    @property
    def folder(self) -> Path:
        return Path(self.checkpoint_dir)


def read_checkpointer(given: Mapping[str, Any] | None) -> CheckpointerOptions | None:
    return CheckpointerOptions.read("checkpointer", given) if given else None


def tiny_checkpoint() -> CheckpointerOptions:
    return CheckpointerOptions(checkpoint_dir=str(tiny_folder()))


@dataclass(frozen=True)
class CheckpointFiles:
    """A checkpoint that is there, as far as can be said without reading it."""

    options: CheckpointerOptions
    files: tuple[str, ...] | dict[str, str]
    family: str

    @classmethod
    def find(cls, options: CheckpointerOptions) -> Self:
        folder = options.folder
        if not folder.is_dir():
            raise DataError(
                f"checkpointer.checkpoint_dir: there is no folder {folder.absolute()}: download it (`hf download "
                f"OWNER/NAME --local-dir {folder}`), or leave model and checkpointer out for the tiny model"
            )
        files = options.checkpoint_files or tuple(sorted(path.name for path in folder.glob("*.safetensors")))
        if isinstance(files, tuple):
            missing = [name for name in files if not (folder / name).is_file()]
            if missing or not files:
                raise DataError(f"checkpointer: {folder.absolute()} has no {', '.join(missing) or '.safetensors file'}")
        family = options.model_type or str(model_config(folder).get("model_type", "")).upper()
        families = [kind.name for kind in torchtune("torchtune.training").ModelType]
        if family not in families:
            raise UsageError(f"checkpointer.model_type: {unknown('family', family, families)}")
        return cls(options, files, family)

    def load(self) -> dict[str, Any]:
        """Tensors by the names that torchtune's model has for them."""
        options, folder = self.options, self.options.folder
        with TemporaryDirectory() as nowhere, quiet():
            # It makes the folder that it would write to: one that nobody named is gone with this.
            arguments = {
                "checkpoint_dir": str(folder),
                "checkpoint_files": self.files if isinstance(self.files, dict) else list(self.files),
                "model_type": self.family,
                "output_dir": options.output_dir or nowhere,
                **options.arguments,
            }
            wanted = ComponentOptions(component=current_path(options.component), **arguments)
            try:
                loaded = build_component("checkpointer", wanted, "torchtune").load_checkpoint()
            except (OSError, KeyError, RuntimeError) as error:
                why = f"{type(error).__name__}: {error}"
                raise DataError(f"checkpointer: {folder.absolute()} cannot be read: {why}") from None
        weights: dict[str, Any] = loaded[torchtune("torchtune.training").MODEL_KEY]
        return weights


def model_config(folder: Path) -> dict[str, Any]:
    """`config.json` of a model folder."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{(folder / 'config.json').absolute()} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise DataError(f"{(folder / 'config.json').absolute()} holds no keys")
    return found
