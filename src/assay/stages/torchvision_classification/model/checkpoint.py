from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.stages.pytorch.libraries import library, quiet


def load_checkpoint(model: Any, path: Path) -> None:
    """Weights from a file of torch's or of safetensors, which is read without running anything that is in it."""
    if not path.is_file():
        raise DataError(f"model_checkpoint_path: there is no file {path}")
    try:
        with quiet():
            found = library("timm.models", "vision").load_state_dict(str(path), use_ema=False, weights_only=True)
    except (RuntimeError, OSError, EOFError, KeyError, ValueError, AttributeError, pickle.UnpicklingError) as error:
        why = str(error).strip().partition("\n")[0]
        raise DataError(f"model_checkpoint_path: {path} is not a file of weights that can be read: {why}") from None
    if misfit := _misfit(model.state_dict(), found):
        raise DataError(f"model_checkpoint_path: {path} does not fit the model: {misfit}")
    model.load_state_dict(found)


def _misfit(have: dict[str, Any], found: dict[str, Any]) -> str:
    missing, unknown = have.keys() - found.keys(), found.keys() - have.keys()
    if missing or unknown:
        some = f"such as {sorted(missing or unknown)[0]}"
        return f"{len(missing)} tensors of the model are not in it and {len(unknown)} of it not in the model, {some}"
    for name, tensor in have.items():
        if tensor.shape != found[name].shape:
            return f"{name} is {list(found[name].shape)} there and {list(tensor.shape)} in the model"
    return ""
