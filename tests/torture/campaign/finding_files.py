"""`tests/torture/findings`: what campaigns found, a small file each. A finding stays here after it is mended."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from campaign.kind import Case

FINDINGS = Path(__file__).parent.parent / "findings"


@dataclass(frozen=True)
class FindingFile:
    kind: str
    found: str
    """What happened that may not."""
    case: Case

    @property
    def cause(self) -> str:
        """What findings of one cause have in common: the words without numbers and quoted parts."""
        words = re.sub(r"'[^']*'|\"[^\"]*\"|[0-9a-f]{8,}|\d+|[…/]\S+", "_", _anywhere(self.found).strip())
        return " ".join(words.split())[-300:]

    @property
    def path(self) -> Path:
        digest = hashlib.sha256(f"{self.kind} {self.cause}".encode()).hexdigest()[:10]
        return FINDINGS / f"{self.kind}-{digest}.json"

    def write(self) -> Path:
        """The first of a cause is kept; the smaller one if there are two."""
        written = json.dumps({"kind": self.kind, "found": _anywhere(self.found), "case": self.case}, indent=1) + "\n"
        if not self.path.exists() or len(written) < self.path.stat().st_size:
            FINDINGS.mkdir(exist_ok=True)
            self.path.write_text(written)
        return self.path


def _anywhere(found: str) -> str:
    """The end of it, without the folders of the machine on which it was found."""
    return re.sub(r"/(?:[\w.@+~-]+/)+(?=[\w.@+~-]+/[\w.@+~-]+)", "…/", found)[-1500:]


def kept_findings() -> list[FindingFile]:
    files = sorted(FINDINGS.glob("*.json"))
    return [FindingFile(**json.loads(file.read_text())) for file in files]
