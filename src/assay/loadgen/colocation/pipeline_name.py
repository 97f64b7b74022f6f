from __future__ import annotations

from assay.errors import UsageError
from assay.loadgen.colocation.colocation import folder_name
from assay.names import quote

_LONGEST = 200
"""Bytes of a folder's name that file systems take, less what is put behind it."""


def name_problem(name: str, folders: dict[str, str] | None = None) -> str:
    """Why results cannot be kept under a name; empty if they can. `folders` are those in use, to which its own is
    added: names that differ only in signs that a folder cannot have would share one."""
    try:
        folder = folder_name(name)
    except UsageError:
        return f"{quote(name)} needs a letter or a digit, as results go to a folder of that name"
    if len(folder.encode()) > _LONGEST:
        return f"the name is too long for a folder ({_LONGEST} bytes are possible)"
    if folders is None:
        return ""
    other = folders.get(folder)
    folders.setdefault(folder, name)
    if other == name:
        return f"there is another pipeline {quote(name)}"
    return "" if other is None else f"results of {quote(name)} and {quote(other)} would share the folder {folder}"
