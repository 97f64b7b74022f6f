from __future__ import annotations

from assay.pipeline import Stage, Worker
from assay.stages.text.id_set import IdSet, load_ids
from assay.stages.text.rows import Rows


class RemoveById(Stage[Rows, Rows]):
    """Drops the rows whose id is on the list. The list is read once a worker."""

    name = "id_removal"

    def __init__(self, ids_path: str, id_field: str) -> None:
        self.ids_path = ids_path
        self.id_field = id_field
        self._ids: IdSet | None = None

    def setup(self, worker: Worker) -> None:
        self._ids = load_ids(self.ids_path, self.id_field)

    def process(self, data: Rows) -> Rows:
        assert self._ids is not None, "setup() comes first"
        where = getattr(data, "where", "")
        return data.without(self._ids.mark_listed(data, self.id_field, where))
