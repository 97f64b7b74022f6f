from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, ValuesView

from assay.weights.store import Tensor


class LazyTensors(dict[str, Tensor]):
    """A checkout whose tensors are read when they are first looked at, and then kept."""

    def __init__(self, names: Iterable[str], read: Callable[[str], Tensor]) -> None:
        super().__init__(dict.fromkeys(names))  # type: ignore[arg-type]
        self._read = read
        self._missing = set(self)

    @property
    def loaded(self) -> set[str]:
        return set(self) - self._missing

    def __getitem__(self, name: str) -> Tensor:
        if name in self._missing:
            self[name] = self._read(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        super().__setitem__(name, tensor)
        self._missing.discard(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._missing.discard(name)

    def get(self, name: str, default: Tensor | None = None) -> Tensor | None:  # type: ignore[override]
        if name not in self:
            return default
        return self[name]

    def pop(self, name: str, *default: Tensor) -> Tensor:  # type: ignore[override]
        if name in self:
            tensor = self[name]
            del self[name]
            return tensor
        return super().pop(name, *default)

    def items(self) -> ItemsView[str, Tensor]:  # type: ignore[override]
        return ItemsView(self)

    def values(self) -> ValuesView[Tensor]:  # type: ignore[override]
        return ValuesView(self)

    def copy(self) -> dict[str, Tensor]:
        return dict(self.items())
