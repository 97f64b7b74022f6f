from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from assay.errors import DataError, UsageError
from assay.names import unknown
from assay.stages.llm_torchtune.tiny_folder import tiny_folder
from assay.stages.llm_torchtune.torchtune_library import current_path, torchtune
from assay.stages.pytorch.build_component import build_component
from assay.stages.pytorch.libraries import quiet
from assay.stages.pytorch.options import ComponentOptions


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
