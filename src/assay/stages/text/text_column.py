from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import DataError
from assay.names import unknown
from assay.native import json_fields
from assay.native.json_fields import ESCAPED, MISSING, NULL, PLAIN
from assay.native.library import library
from assay.stages.text.document_ids import Ids, JsonIds, ValueIds
from assay.stages.text.document_rows import ArrowRows, Rows, import_arrow
from assay.stages.text.documents import JsonLines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TextColumn:
    """Texts where they stand: text i is data[starts[i]:ends[i]] in UTF-8."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    escaped: NDArray[np.uint8] | None = None
    """Not 0: that text is the inside of a JSON string with escapes."""

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def packed(cls, texts: Sequence[bytes]) -> TextColumn:
        import numpy as np

        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(texts), np.uint8), offsets[:-1], offsets[1:])

    def plain(self) -> Iterator[bytes]:
        """Each text, without escapes."""
        for at in range(len(self)):
            text = self.data[self.starts[at] : self.ends[at]].tobytes()
            if self.escaped is not None and self.escaped[at]:
                text = json.loads(b'"' + text + b'"').encode()
            yield text


def ids_and_texts(rows: Rows, id_field: str, text_field: str) -> tuple[Ids, TextColumn]:
    """Both fields of every row. A missing field is an error, a text that is null is an empty one."""
    if isinstance(rows, ArrowRows):
        return ValueIds(rows.column(id_field)), _arrow_texts(rows, text_field)
    if isinstance(rows, JsonLines) and library() is not None:
        return _scan(rows, id_field, text_field)
    return _parse(rows, id_field, text_field)


def _arrow_texts(rows: ArrowRows, field: str) -> TextColumn:
    """The column's own memory."""
    import numpy as np

    arrow = import_arrow()
    if field not in rows.held.column_names:
        raise DataError(f"{rows.where}: {unknown('column', field, rows.held.column_names)}")
    column = rows.held.column(field)
    if not (arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type)):
        raise DataError(f"{rows.where}: {field}: not text but {column.type}")
    array = arrow.concat_arrays([chunk.cast(arrow.large_string()) for chunk in column.chunks] or [[]])
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.zeros(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    return TextColumn(data, bounds[:-1], bounds[1:])


def _scan(rows: JsonLines, id_field: str, text_field: str) -> tuple[Ids, TextColumn]:
    import numpy as np

    names = [id_field] if id_field == text_field else [id_field, text_field]
    fields = json_fields.scan(rows.block, rows.at, names)
    (ids, id_kinds), (texts, text_kinds) = fields.column(0), fields.column(fields.count - 1)
    data, kinds = np.frombuffer(rows.block, np.uint8), np.asarray(text_kinds)
    starts, ends = np.asarray(texts).reshape(-1, 2).T.copy()
    ends[kinds == NULL] = starts[kinds == NULL]
    tokens = JsonIds(*map(np.asarray, json_fields.raw_values(rows.block, ids, id_kinds)))
    odd = np.flatnonzero(~np.isin(kinds, (PLAIN, ESCAPED, NULL)) | (np.asarray(id_kinds) == MISSING))
    if len(odd):
        # The strict parser decides what the scanner is not sure of; what it reads goes behind the block.
        their_ids, their_texts = _parse(rows.pick(odd.tolist()), id_field, text_field)
        starts[odd], ends[odd] = their_texts.starts + len(data), their_texts.ends + len(data)
        data = np.concatenate([data, their_texts.data])
        tokens = tokens.replace(odd, their_ids.tokens(np.arange(len(odd))))
    return tokens, TextColumn(data, starts, ends, (kinds == ESCAPED).view(np.uint8))


def _parse(rows: Rows, id_field: str, text_field: str) -> tuple[Ids, TextColumn]:
    """Ids and texts read by the strict parser, which also says what is wrong."""
    ids, texts = rows.columns(id_field, text_field)
    return ValueIds(ids), TextColumn.packed([_encode(rows, at, text_field, text) for at, text in enumerate(texts)])


def _encode(rows: Rows, at: int, field: str, text: Any) -> bytes:
    if text is None:
        return b""
    if not isinstance(text, str):
        where = rows.place(at) if isinstance(rows, JsonLines) else f"row {at + 1} of a batch"
        raise DataError(f"{where}: {field}: not text but {type(text).__name__}")
    return text.encode()
