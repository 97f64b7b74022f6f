"""Run by the Python of Apache Otava's own environment: a JSON list of series in, the indices it calls out."""

from __future__ import annotations

import json
import sys

from otava.analysis import compute_change_points

print(json.dumps([[int(point.index) for point in compute_change_points(values)[0]] for values in json.load(sys.stdin)]))
