from __future__ import annotations

from assay.pipeline import ColumnBatch, Stage, Worker
from assay.stages.text.column_rows import ColumnRows
from assay.stages.text.page_text import decode_page, main_text, require_extractor


class ExtractText(Stage[ColumnBatch, ColumnRows]):
    """HTML in, its text out; pages without any are dropped."""

    name = "html_extraction"
    needs = frozenset({"url", "warc_id", "charset", "body"})
    adds = frozenset({"text"})

    def setup(self, worker: Worker) -> None:
        require_extractor()

    def process(self, data: ColumnBatch) -> ColumnRows:
        kept: dict[str, list[str]] = {"url": [], "warc_id": [], "text": []}
        for url, warc_id, charset, body in zip(
            *(data[name] for name in ("url", "warc_id", "charset", "body")), strict=True
        ):
            text = main_text(decode_page(body, charset))
            if text:
                kept["url"].append(url)
                kept["warc_id"].append(warc_id)
                kept["text"].append(text)
        return ColumnRows(kept)


class DetectLanguage(Stage[ColumnRows, ColumnRows]):
    """Adds `language`. Costs about as much as the extraction itself, so it is asked for."""

    name = "language_detection"
    needs = frozenset({"text"})
    adds = frozenset({"language"})

    def process(self, data: ColumnRows) -> ColumnRows:
        from resiliparse.parse.lang import detect_fast

        # The first thousand characters tell; the detector compares with every language it knows in any case.
        languages = [detect_fast(text[:1000])[0] for text in data.column("text")]
        return data.with_column("language", languages)
