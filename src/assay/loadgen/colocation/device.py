from __future__ import annotations

from pathlib import Path


def device_problem(device: str) -> str:
    """Why a pipeline cannot have the device it asks for, or nothing."""
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return ""
    if kind != "cuda" or (number and not number.isdigit()):
        return f"{device!r} is not a device: use cpu, cuda or cuda:N"
    present = sorted(path.name for path in Path("/dev").glob("nvidia[0-9]*"))
    if not present:
        return f"{device} was asked for but this machine has no GPU; use `device: cpu`"
    if number and f"nvidia{number}" not in present:
        return f"there is no GPU {number}; this machine has {', '.join(present)}"
    return ""


def device_environment(device: str) -> dict[str, str]:
    """Only the chosen GPU is visible, and is then the first."""
    _, _, number = device.partition(":")
    if device == "cpu":
        return {"CUDA_VISIBLE_DEVICES": ""}
    return {"CUDA_VISIBLE_DEVICES": number} if number else {}
