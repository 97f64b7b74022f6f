"""The HTTP client for endpoints: requests at their times, arrival times of all that comes back."""

import sys

from assay.exports import MovedModules

sys.meta_path.append(
    MovedModules(
        {
            "assay.loadgen.http.deltas": "assay.loadgen.http.event_stream",
            "assay.loadgen.http.exchange_file": "assay.loadgen.http.exchanges",
            "assay.loadgen.http.reading": "assay.loadgen.http.event_stream",
            "assay.loadgen.http.reading.read_deltas": "assay.loadgen.http.event_stream",
        }
    )
)
