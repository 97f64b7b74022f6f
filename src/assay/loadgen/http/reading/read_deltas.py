from __future__ import annotations

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.reading.compiled_reading import read_compiled, reading_functions
from assay.loadgen.http.reading.deltas import Deltas
from assay.loadgen.http.reading.plain_reading import read_plain


def read_deltas(exchanges: Exchanges) -> Deltas:
    """What the answers of an OpenAI-compatible server say, event by event, with arrival times."""
    loaded = reading_functions()
    return read_plain(exchanges) if loaded is None else read_compiled(loaded, exchanges)
