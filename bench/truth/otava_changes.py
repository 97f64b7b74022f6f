"""Run by the Python of Apache Otava's own environment: a JSON list of series in; of each, the indices it calls
and the CPU seconds that it took, out."""

from __future__ import annotations

import json
import sys
import time

from otava.analysis import compute_change_points

found = []
for values in json.load(sys.stdin):
    start = time.process_time()
    points = compute_change_points(values)[0]
    found.append(([int(point.index) for point in points], time.process_time() - start))
print(json.dumps(found))
