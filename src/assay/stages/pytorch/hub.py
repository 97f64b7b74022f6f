"""What to say of a model or data set that is not on this machine, found out in a moment.

The libraries themselves try again and again for most of a minute before they say that there is no network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assay.errors import DataError
from assay.names import quote
from assay.stages.pytorch.device import library, quiet

Kind = Literal["model", "dataset"]
_WORDS: dict[Kind, str] = {"model": "model", "dataset": "data set"}
_TIMEOUT_S = 10.0
_TINY = "use `name: tiny`, which needs no download"


def is_path(name: str) -> bool:
    """Whether a name is meant as a folder or file here, not as `owner/name` on the hub."""
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or Path(name).exists()


def local_path(name: str, kind: Kind, otherwise: str = _TINY) -> Path:
    path = Path(name).expanduser()
    if not path.exists():
        raise DataError(
            f"there is no {_WORDS[kind]} at {quote(path.absolute())}: give a path that is there, or {otherwise}"
        )
    return path


def require_reachable(name: str, kind: Kind, otherwise: str = _TINY) -> None:
    """Raises, with what to do, unless the hub has it and this machine may have it. `otherwise`: what also helps."""
    hub, errors = library("huggingface_hub", "llm"), library("huggingface_hub.errors", "llm")
    cache = library("huggingface_hub.constants", "llm").HF_HUB_CACHE
    what = f"the {_WORDS[kind]} {quote(name)}"
    try:
        with quiet():
            hub.HfApi().repo_info(name, repo_type=kind, timeout=_TIMEOUT_S)
    except errors.HFValidationError:
        raise DataError(f"{what} is neither a folder here nor a name of the hub (owner/name); or {otherwise}") from None
    except errors.GatedRepoError:
        raise DataError(f"{what} is given only to those its owner lets in: ask there, then `hf auth login`") from None
    except errors.RepositoryNotFoundError:
        raise DataError(f"{what} is not on the hub, or not for you (`hf auth login`); or {otherwise}") from None
    except Exception as error:  # noqa: BLE001  (whatever the network does, the advice is the same)
        why = "HF_HUB_OFFLINE is set" if isinstance(error, errors.OfflineModeIsEnabled) else _first_line(error)
        download = f"hf download {name}" + (" --repo-type dataset" if kind == "dataset" else "")
        raise DataError(
            f"{what} is not in {cache}, and the hub cannot be reached ({why}). Where there is a network, run "
            f"`{download}`; or give a folder as its name; or {otherwise}"
        ) from None


def cannot_load(name: str, kind: Kind, error: Exception) -> DataError:
    return DataError(f"the {_WORDS[kind]} {quote(name)} cannot be loaded: {type(error).__name__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
