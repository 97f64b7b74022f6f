"""A model of 4 GB goes in and comes out within 1 GB beyond what the caller holds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, resource, sys, threading, time
import numpy as np
from assay.weights.repository import Repository

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()

class Peak(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.going = 0, True
    def run(self):
        while self.going:
            self.most = max(self.most, resident())
            time.sleep(0.002)

class Model(dict):
    # Tensors are made when they are asked for: the caller holds one at a time, the largest of 1 GiB.
    def __init__(self, version):
        self.sizes = {"big": 1 << 28, **{f"w{i}": 1 << 25 for i in range(24)}}
        self.version = version
        super().__init__(self.sizes)
    def make(self, name):
        # Low halves are zero, so that the test waits for the coder and not for the disk; no two rows are alike.
        block = np.random.default_rng(len(name)).standard_normal(1 << 16, dtype=np.float32)
        bits = block.view(np.uint32) & np.uint32(0xFFFF0000)
        if self.version and name in ("big", "w0"):
            bits = bits + np.uint32(1 << 16)
        out = np.empty(self.sizes[name], np.uint32)
        rows = out.reshape(-1, 1 << 16)
        np.add(bits, (np.arange(len(rows), dtype=np.uint32)[:, None] * 37 % 64) << 16, out=rows)
        return out.view(np.float32)
    def items(self):
        for name in self.sizes:
            tensor = self.make(name)
            before = resident()
            peak = Peak(); peak.start()
            yield name, tensor
            peak.going = False; peak.join()
            self.worst = max(getattr(self, "worst", 0), peak.most - before)

import assay.weights.packs.tensor_writer
repo = Repository.init(sys.argv[1], sys.argv[2])
first = Model(0); a = repo.commit(first)
second = Model(1); b = repo.commit(second)
total = sum(s * 4 for s in first.sizes.values())
repo = Repository.open(sys.argv[1])
before = resident()
peak = Peak(); peak.start()
out = repo.checkout(b)
peak.going = False; peak.join()
held = sum(t.nbytes for t in out.values())
assert held == total
for name in ("big", "w0", "w3"):
    assert np.array_equal(out[name].view(np.uint32), second.make(name).view(np.uint32))
print(json.dumps({"total": total, "commit": [first.worst, second.worst], "checkout": peak.most - before - held,
                  "ratio": repo.stats().ratio}))
"""


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("setting", ["balanced", "fast"])
def test_four_gigabytes_within_one(tmp_path, setting):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "r"), setting], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(found)
    assert found["total"] >= 4e9
    assert max(found["commit"]) < 1 << 30
    assert found["checkout"] < 1 << 30
