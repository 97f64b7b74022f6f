from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import DataError
from assay.names import unknown
from assay.native import json_fields
from assay.native.library import library
from assay.stages.text.document_ids import Ids, JsonIds, ValueIds
from assay.stages.text.rows import ArrowRows, JsonLines, Rows, import_arrow, import_orjson

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
    """Both fields of every row. A missing text is an error, null an empty one."""
    if isinstance(rows, ArrowRows):
        return ValueIds(rows.column(id_field)), _arrow_texts(rows, text_field)
    if isinstance(rows, JsonLines) and library() is not None:
        return _scanned(rows, id_field, text_field)
    ids, texts = rows.columns(id_field, text_field)
    where = [f"{rows.where}:{number}" for number in rows.numbers] if isinstance(rows, JsonLines) else [""] * len(rows)
    return ValueIds(ids), TextColumn.packed([_encoded(t, w, text_field) for t, w in zip(texts, where, strict=True)])


def _encoded(text: Any, where: str, field: str) -> bytes:
    if text is None:
        return b""
    if not isinstance(text, str):
        raise DataError(f"{where}: {field}: not text: {str(text)[:40]}")
    return text.encode()


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


def _scanned(rows: JsonLines, id_field: str, text_field: str) -> tuple[Ids, TextColumn]:
    import numpy as np

    block = b"\n".join(rows.lines)
    found = json_fields.lines(block)
    names = [id_field] if id_field == text_field else [id_field, text_field]
    fields = json_fields.scan(block, found.at, names)
    values = np.asarray(fields.values).reshape(-1, fields.count, 2)
    kinds = np.asarray(fields.kinds).reshape(-1, fields.count)
    ids, texts = (values[:, 0], kinds[:, 0]), (values[:, -1], kinds[:, -1])
    kind = texts[1]
    known = (kind == json_fields.PLAIN) | (kind == json_fields.ESCAPED) | (kind == json_fields.NULL)
    data = np.frombuffer(block, np.uint8)
    odd = np.flatnonzero(~known | (ids[1] == json_fields.MISSING))
    starts, ends = texts[0][:, 0].copy(), texts[0][:, 1].copy()
    ends[kind == json_fields.NULL] = starts[kind == json_fields.NULL]
    tokens = JsonIds.cut(data, *ids)
    if len(odd):
        # The strict parser decides what the scanner was not sure of; what it reads goes behind the block.
        parsed = JsonLines([rows.lines[at] for at in odd], rows.where, [rows.numbers[at] for at in odd])
        their_ids, their_texts = ids_and_texts_parsed(parsed, id_field, text_field)
        starts[odd], ends[odd] = their_texts.starts + len(data), their_texts.ends + len(data)
        data = np.concatenate([data, their_texts.data])
        tokens = tokens.replaced(odd, their_ids)
    return tokens, TextColumn(data, starts, ends, (kind == json_fields.ESCAPED).view(np.uint8))


def ids_and_texts_parsed(rows: JsonLines, id_field: str, text_field: str) -> tuple[list[bytes], TextColumn]:
    """By the strict parser: tokens of the ids, and the texts."""
    ids, texts = rows.columns(id_field, text_field)
    encoded = [
        _encoded(text, f"{rows.where}:{number}", text_field) for text, number in zip(texts, rows.numbers, strict=True)
    ]
    dumps = import_orjson().dumps
    return [dumps(one) for one in ids], TextColumn.packed(encoded)
